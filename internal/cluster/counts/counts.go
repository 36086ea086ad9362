// Package counts counts what a node of a cluster does.
package counts

import (
	"sync/atomic"
	"time"
)

// Counts are what a node has counted since it joined.
type Counts struct {
	// Renewed and Unrenewed count the renewals of the lease that were stored, and those that failed or may have failed; LeaseAge is how
	// long ago the last stored one began; 0: there was none.
	Renewed, Unrenewed int64
	LeaseAge           time.Duration
	// Restored counts the sessions of other nodes that this one restored, and Unrestored the attempts that failed.
	Restored, Unrestored int64
	// Ended counts the leases of other nodes that this one ended.
	Ended int64
	// Fenced counts the sessions of this node that were stopped because another node may have them, Moved those that this node gave to
	// another one.
	Fenced, Moved int64
	// Reasserted counts the entries of this node's sessions that it stored again because the registry had lost them.
	Reasserted int64
}

// Counter is Counts while they grow. Its fields and methods are safe for concurrent use. The zero value is ready.
type Counter struct {
	Restored, Unrestored, Ended, Fenced, Moved, Reasserted atomic.Int64

	renewed, unrenewed atomic.Int64
	// renewal is when the last stored renewal of the lease began.
	renewal atomic.Pointer[time.Time]
}

// Renewal counts a renewal of the lease, which began at a time; err: it failed, or may have failed.
func (c *Counter) Renewal(begun time.Time, err error) {
	if err != nil {
		c.unrenewed.Add(1)
		return
	}
	c.renewed.Add(1)
	c.renewal.Store(&begun)
}

// Read returns what was counted.
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
