package actor

import (
	"time"

	"github.com/domtap/domtap/actor/internal/observation"
)

// heldEvents is how many events of a tab that is away are kept until it is back.
const heldEvents = 64

// publish replaces the head when something changed, and then reports what the tab has to tell: the head first, then its events,
// then the answers to dialogs that are gone from the head, then what is kept for the next process.
func (t *loop) publish() {
	if t.back.Away() {
		t.publishAway()
		return
	}
	h := t.head.Load()
	info := t.info()
	s := t.doc.Snapshot(h.Snapshot, info.URL, info.Title, t.nav.History(), time.Now())
	if s != h.Snapshot && t.meter != nil {
		t.meter.Published()
	}
	info.Revision, info.Epoch = s.Revision, s.Epoch
	if view := t.obs.View(); s != h.Snapshot || info != h.Info || view != h.view {
		h = t.replace(h, h.follow(s, info, t.doc.NextRef(), t.limits), view)
	}
	for _, e := range t.outbox {
		e.Info, e.At = h.Info, time.Now()
		t.owner.tell(e)
	}
	t.outbox = t.outbox[:0]
	t.answered.reach(t.dialogs.LastClosed())
	t.save()
}

// replace makes next the head in place of h.
func (t *loop) replace(h, next *Head, view observation.View) *Head {
	next.view = view
	t.head.Store(next)
	close(h.next)
	return next
}

// publishAway says that the tab is away. What its pages do before it is back is nobody's business until then.
func (t *loop) publishAway() {
	h := t.head.Load()
	info := h.Info
	info.Status, info.Restore, info.Dialog = StatusRestoring, t.restore.Load(), nil
	if info != h.Info {
		h = t.replace(h, h.follow(h.Snapshot, info, h.refs, t.limits), h.view)
	}
	held := t.outbox[:0]
	for _, e := range t.outbox {
		switch {
		case e.Kind == TabCrashed || e.Kind == TabRestoring:
			e.Info, e.At = h.Info, time.Now()
			t.owner.tell(e)
		case len(held) < heldEvents:
			held = append(held, e)
		}
	}
	t.outbox = held
	t.answered.reach(t.dialogs.LastClosed())
}

// info composes what is known of the tab, but for the revision and the epoch.
func (t *loop) info() Info {
	url, title, httpStatus := t.nav.Page()
	return Info{
		ID: t.id, Session: t.session, Opener: t.opener, URL: url, Title: title, HTTPStatus: httpStatus,
		Status: t.status(), Dialog: t.dialogs.Open(), Restore: t.restore.Load(), Why: t.back.Why(),
	}
}

// status derives the tab's status.
func (t *loop) status() Status {
	switch {
	case t.closed:
		return StatusClosed
	case t.back.Away():
		return StatusRestoring
	case t.health.Crashed():
		return StatusCrashed
	case t.health.Unresponsive():
		return StatusUnresponsive
	case t.nav.Loading():
		return StatusLoading
	}
	return StatusReady
}

// save keeps what the tab needs to be brought back in another process, when that is something else than before.
func (t *loop) save() {
	if !t.restore.Load() {
		if t.back.Kept() {
			t.back.Forget()
			t.keeper.Forget(t.id)
		}
		return
	}
	if t.back.Away() || t.ctx.Err() != nil {
		return // what was kept still holds
	}
	now := Kept{ID: t.id, Session: t.session, URL: t.nav.Address(), Viewport: t.viewport}
	if saved, changed := t.back.Save(now, t.doc.NextRef(), time.Now()); changed {
		t.keeper.Keep(saved)
	}
}
