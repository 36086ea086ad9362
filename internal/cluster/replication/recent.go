package replication

import (
	"errors"
	"slices"
	"time"

	"github.com/domtap/domtap/actor"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// errRestarted says that all records are gone and their numbers begin anew, so that the copy would wait for one that it takes for an old one.
var errRestarted = errors.New("the log of the tab has begun anew")

// mostStrange is how many answers in turn may be of a document that the copy does not have, while it has later records.
const mostStrange = 3

// agrees reports whether the copy has what an answer says that the log has. The log is in the memory of the servers: it begins anew when all
// of them were started again.
func (c *Copy) agrees(reply *clusterv1.InterestReply) bool {
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
	return c.applied > reply.GetSequence() && c.strange < mostStrange
}

// known is what is known of the age of a copy: with the record of the sequence, it has what the page was at the time, as far as the page
// reports it.
type known struct {
	// order is that of the question that was answered.
	order    uint64
	at       time.Time
	sequence uint64
	options  actor.WatchOptions
}

// learn takes an answer of the owner.
func (c *Copy) learn(k known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.order > c.known.order {
		c.known = k
	}
}

// Recent returns the copy of a tab of an owner, if there is one that is no older than age, and whose page reports what o asks for. The owner is not
// asked, and the copy is not kept: its newest state stays readable after its end. Selectors and Network of o do not count.
func (r *Replicas) Recent(tab, owner string, age time.Duration, o actor.WatchOptions) (c *Copy, ok bool) {
	r.mu.Lock()
	c = r.copies[tab]
	r.mu.Unlock()
	if c == nil || c.owner != owner || !c.isRecent(age, o) {
		return nil, false
	}
	return c, true
}

// isRecent is Recent for one copy. A tab that has crashed, is being restored or shows a dialog is for its owner to explain.
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
