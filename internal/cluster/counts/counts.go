// Package counts counts the cluster operations of a node.
package counts

import (
	"sync/atomic"
	"time"
)

// Counts holds a node's counters since it joined.
type Counts struct {
	// Renewed counts the lease renewals that were stored. Unrenewed counts renewals that failed or may have failed. LeaseAge is the time
	// since the start of the last stored renewal. It is zero if there was none.
	Renewed, Unrenewed int64
	LeaseAge           time.Duration
	// Restored counts the sessions of other nodes that this node restored. Unrestored counts failed attempts.
	Restored, Unrestored int64
	// Ended counts the leases of other nodes that this node ended.
	Ended int64
	// Fenced counts sessions of this node that were stopped because another node may own them. Moved counts sessions that this node moved
	// to another node.
	Fenced, Moved int64
	// Reasserted counts the session entries that this node stored again because the registry had lost them.
	Reasserted int64
}

// Counter collects Counts. Its fields and methods are safe for concurrent use. The zero value is ready to use.
type Counter struct {
	Restored, Unrestored, Ended, Fenced, Moved, Reasserted atomic.Int64

	renewed, unrenewed atomic.Int64
	// renewal is the start time of the last stored lease renewal.
	renewal atomic.Pointer[time.Time]
}

// Renewal counts a lease renewal that started at begun. A non-nil err means that it failed or may have failed.
func (c *Counter) Renewal(begun time.Time, err error) {
	if err != nil {
		c.unrenewed.Add(1)
		return
	}
	c.renewed.Add(1)
	c.renewal.Store(&begun)
}

// Read returns the current counts.
func (c *Counter) Read() Counts {
	var age time.Duration
	if begun := c.renewal.Load(); begun != nil {
		age = time.Since(*begun)
	}
	return Counts{
		Renewed: c.renewed.Load(), Unrenewed: c.unrenewed.Load(), LeaseAge: age,
		Restored: c.Restored.Load(), Unrestored: c.Unrestored.Load(), Ended: c.Ended.Load(), Fenced: c.Fenced.Load(), Moved: c.Moved.Load(), Reasserted: c.Reasserted.Load(),
	}
}
