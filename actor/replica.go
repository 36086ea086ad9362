package actor

import (
	"sync"
	"sync/atomic"

	"github.com/domtap/domtap/actor/internal/notices"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/dom"
)

// Reported is a notice with the document that reported it; see Notices.
type Reported = notices.Reported

// Published is what a head says of a tab, as a value that can be written down and sent to another process: the whole DOM, what is
// known of the tab, and what was noticed on its page. Nobody may write to what it refers to.
type Published struct {
	// Snapshot is never nil in the state of a head.
	Snapshot *dom.Snapshot
	Info     Info
	// Refs is how many refs were given so far.
	Refs dom.Ref
	// Noticed is what was noticed since the state before, in the order of the changes.
	Noticed []Reported
}

// Published returns what the head says, with what was noticed after a change of its notices; see Notices.Last.
func (h *Head) Published(after uint64) Published {
	return Published{Snapshot: h.Snapshot, Info: h.Info, Refs: h.refs, Noticed: h.noticed.Reported(after)}
}

// Replica is a copy of a tab whose page belongs to another process: its heads are those of the tab, one after the other or with some
// left out. It has no page, so it can be followed and viewed, and nothing else. Make one with NewReplica.
//
// Publish and End are for its one owner; the other methods are safe for concurrent use and never block. What was noticed is
// numbered by the replica, so that only one Replica's heads may be compared by it.
type Replica struct {
	id     string
	limits revisions.Limits
	head   atomic.Pointer[Head]
	done   chan struct{}
	once   sync.Once
	err    error
}

// NewReplica returns a replica of a tab in a state. Of the options, LogCount and LogBytes bound what it keeps of earlier revisions.
func NewReplica(id string, first Published, o Options) *Replica {
	o = o.withDefaults()
	r := &Replica{id: id, limits: revisions.Limits{Count: o.LogCount, Bytes: o.LogBytes}, done: make(chan struct{})}
	h := &Head{Snapshot: first.Snapshot, Info: first.Info, next: make(chan struct{}), refs: first.Refs}
	h.noticed = noticed(nil, first.Noticed)
	r.head.Store(h)
	return r
}

// Publish makes a state the newest one. One of an earlier revision of the same epoch is ignored.
func (r *Replica) Publish(s Published) {
	h := r.head.Load()
	if s.Snapshot.Epoch == h.Snapshot.Epoch && s.Snapshot.Revision < h.Snapshot.Revision {
		return
	}
	next := h.follow(s.Snapshot, s.Info, s.Refs, r.limits)
	next.noticed = noticed(h.noticed, s.Noticed)
	r.head.Store(next)
	close(h.next)
}

// noticed adds what was noticed to a list.
func noticed(list *Notices, news []Reported) *Notices {
	for _, one := range news {
		list = list.With(one.Document, []dom.Notice{one.Notice})
	}
	return list
}

// End ends the replica: the last head says that the tab is closed. err says why, nil that the tab was closed. Only the first
// call counts, and Publish may not be called after it.
func (r *Replica) End(err error) {
	r.once.Do(func() {
		h := r.head.Load()
		info := h.Info
		info.Status, info.Dialog = StatusClosed, nil
		last := h.follow(h.Snapshot, info, h.refs, r.limits)
		close(last.next)
		r.head.Store(last)
		r.err = err
		close(r.done)
		close(h.next)
	})
}

// ID is the tab's name.
func (r *Replica) ID() string { return r.id }

// Head returns the newest state.
func (r *Replica) Head() *Head { return r.head.Load() }

// Done is closed when the replica has ended.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err is nil until Done is closed. Then it says why the replica has ended; nil when the tab was closed.
func (r *Replica) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}
