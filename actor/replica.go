package actor

import (
	"sync"
	"sync/atomic"

	"github.com/domtap/domtap/actor/internal/notices"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/dom"
)

// ReportedNotice is a notice with the document that reported it; see Notices.
type ReportedNotice = notices.Reported

// Published is the content of a head as a value that can be serialized and sent to another process: the whole DOM, the tab's Info, and the
// notices of its page. The data that it refers to must not be modified.
type Published struct {
	// Snapshot is never nil in a state from a head.
	Snapshot *dom.Snapshot
	Info     Info
	// Refs is the number of refs assigned so far.
	Refs dom.Ref
	// Notices lists the notices since the previous state, in order.
	Notices []ReportedNotice
}

// Published returns the content of the head, with the notices after a change number; see Notices.Last.
func (h *Head) Published(after uint64) Published {
	return Published{Snapshot: h.Snapshot, Info: h.Info, Refs: h.refs, Notices: h.notices.Reported(after)}
}

// Replica is a copy of a tab whose page belongs to another process. Its heads are the heads of that tab in order, possibly with gaps. It
// has no page, so it can only be followed and viewed. Create one with NewReplica.
//
// Only the replica's owner calls Publish and End. The other methods are safe for concurrent use and never block. Each replica numbers its
// notices itself, so compare these numbers only between heads of the same replica.
type Replica struct {
	id     string
	limits revisions.Limits
	head   atomic.Pointer[Head]
	done   chan struct{}
	once   sync.Once
	err    error
}

// NewReplica returns a replica of a tab in a state. Of the options, only LogCount and LogBytes are used; they bound the log of earlier
// revisions.
func NewReplica(id string, first Published, o Options) *Replica {
	o = o.withDefaults()
	r := &Replica{id: id, limits: revisions.Limits{Count: o.LogCount, Bytes: o.LogBytes}, done: make(chan struct{})}
	h := &Head{Snapshot: first.Snapshot, Info: first.Info, next: make(chan struct{}), refs: first.Refs}
	h.notices = appendNotices(nil, first.Notices)
	r.head.Store(h)
	return r
}

// Publish makes s the newest state. It ignores a state of an earlier revision in the same epoch.
func (r *Replica) Publish(s Published) {
	h := r.head.Load()
	if s.Snapshot.Epoch == h.Snapshot.Epoch && s.Snapshot.Revision < h.Snapshot.Revision {
		return
	}
	next := h.follow(s.Snapshot, s.Info, s.Refs, r.limits)
	next.notices = appendNotices(h.notices, s.Notices)
	r.head.Store(next)
	close(h.next)
}

// appendNotices appends notices to a list.
func appendNotices(list *Notices, news []ReportedNotice) *Notices {
	for _, one := range news {
		list = list.With(one.Document, []dom.Notice{one.Notice})
	}
	return list
}

// End ends the replica. Its last head has StatusClosed. err is the reason, or nil if the tab was closed. Only the first call has an effect,
// and Publish must not be called after it.
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

// ID returns the tab's ID.
func (r *Replica) ID() string { return r.id }

// Head returns the newest state.
func (r *Replica) Head() *Head { return r.head.Load() }

// Done returns a channel that is closed when the replica has ended.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err returns nil until Done is closed. After that it returns the reason why the replica has ended, or nil if the tab was closed.
func (r *Replica) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}
