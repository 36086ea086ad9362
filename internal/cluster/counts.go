package cluster

import (
	"sync/atomic"
	"time"
)

// Counts are what a Node has counted since it joined.
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

// counts are Counts while they grow.
type counts struct {
	renewed, unrenewed, restored, unrestored, ended, fenced, moved, reasserted atomic.Int64
	// renewal is when the last stored renewal of the lease began.
	renewal atomic.Pointer[time.Time]
}

// renew counts a renewal of the lease.
func (c *counts) renew(begun time.Time, err error) {
	if err != nil {
		c.unrenewed.Add(1)
		return
	}
	c.renewed.Add(1)
	c.renewal.Store(&begun)
}

// Counts are what the node has counted.
func (o *Operations) Counts() Counts {
	c := &o.node.counts
	var age time.Duration
	if begun := c.renewal.Load(); begun != nil {
		age = time.Since(*begun)
	}
	return Counts{
		Renewed: c.renewed.Load(), Unrenewed: c.unrenewed.Load(), LeaseAge: age,
		Restored: c.restored.Load(), Unrestored: c.unrestored.Load(), Ended: c.ended.Load(), Fenced: c.fenced.Load(), Moved: c.moved.Load(), Reasserted: c.reasserted.Load(),
	}
}
