package replication

import (
	"errors"
	"slices"
	"time"

	"github.com/domtap/domtap/actor"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// errRestarted means that the log has lost all records and numbers new ones from the start. The copy would mistake the new records for old
// ones and ignore them.
var errRestarted = errors.New("the log of the tab has begun anew")

// maxUnknownDocuments limits how many consecutive answers may refer to a document that the copy does not have, although the copy has later
// records.
const maxUnknownDocuments = 3

// isConsistent reports whether the copy is consistent with an answer about the log. The servers hold the log in memory, so it starts anew
// when all of them have restarted.
func (c *Copy) isConsistent(reply *clusterv1.InterestReply) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads == nil || reply.GetEpoch() == "" || c.applied < reply.GetSequence() {
		c.strange = 0
		return true
	}
	s := c.heads.Head().Snapshot
	if s.Epoch == reply.GetEpoch() {
		c.strange = 0
		return s.Revision >= reply.GetRevision()
	}
	c.strange++ // the answer may be older than the copy
	return c.applied > reply.GetSequence() && c.strange < maxUnknownDocuments
}

// freshness limits the age of a copy. A copy that has applied the record with this sequence number contains the page's state at time at, as
// far as the page reports it.
type freshness struct {
	// order is the order of the answered question.
	order    uint64
	at       time.Time
	sequence uint64
	options  actor.WatchOptions
}

// learn stores an answer of the owner, unless a newer one is known.
func (c *Copy) learn(k freshness) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.order > c.known.order {
		c.known = k
	}
}

// Recent returns the copy of an owner's tab, if one exists that is no older than age and whose page reports what o selects. It sends no
// request to the owner and does not keep the copy open. The copy's newest state stays readable after the copy has ended. Selectors and
// Network of o are ignored.
func (r *Replicas) Recent(tab, owner string, age time.Duration, o actor.WatchOptions) (c *Copy, ok bool) {
	r.mu.Lock()
	c = r.copies[tab]
	r.mu.Unlock()
	if c == nil || c.owner != owner || !c.isRecent(age, o) {
		return nil, false
	}
	return c, true
}

// isRecent implements Recent for one copy. It returns false for a tab that has crashed, is being restored or shows a dialog, because the
// owner returns the error for these states.
func (c *Copy) isRecent(age time.Duration, o actor.WatchOptions) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads == nil || isClosed(c.heads.Done()) || c.known.order == 0 || c.applied < c.known.sequence || time.Since(c.known.at) > age {
		return false
	}
	info, has := c.heads.Head().Info, c.known.options
	return info.Status == actor.StatusReady && info.Dialog == nil && (has.Structural || !o.Structural) && (has.Geometry || !o.Geometry) &&
		!slices.ContainsFunc(o.Attributes, func(name string) bool { return !slices.Contains(has.Attributes, name) })
}
