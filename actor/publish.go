package actor

import (
	"time"

	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/actor/restore"
)

// heldEvents limits how many events of a tab are held while it is being restored.
const heldEvents = 64

// publisher creates the heads of a tab and reports its events.
type publisher struct {
	t *loop
	// events are reported with the next head.
	events []TabEvent
}

// add adds an event. Its Info and time are filled in when it is reported.
func (p *publisher) add(e TabEvent) { p.events = append(p.events, e) }

// publish replaces the head if something changed. It then reports the tab's events, releases the answers to dialogs that the head no longer
// contains, and updates the RestoreStore's Record, in this order. The page's acknowledgement is sent last.
func (p *publisher) publish() {
	defer p.t.reader.acknowledge()
	if p.t.recovery.Away() {
		p.publishAway()
		return
	}
	h := p.t.head.Load()
	info := p.info()
	s := p.t.doc.Snapshot(h.Snapshot, info.URL, info.Title, p.t.nav.History(), time.Now())
	if s != h.Snapshot && p.t.meter != nil {
		p.t.meter.Published()
	}
	info.Revision, info.Epoch = s.Revision, s.Epoch
	if view := p.t.obs.View(); s != h.Snapshot || info != h.Info || view != h.view || p.t.notices != h.notices {
		h = p.replace(h, h.follow(s, info, p.t.doc.NextRef(), p.t.limits), view)
	}
	for _, e := range p.events {
		e.Info, e.At = h.Info, time.Now()
		p.t.owner.Report(e)
	}
	p.events = p.events[:0]
	p.t.answered.Reach(p.t.dialogs.LastClosed())
	p.save()
}

// replace replaces the head h by the head next.
func (p *publisher) replace(h, next *Head, view observation.View) *Head {
	next.view, next.notices = view, p.t.notices
	p.t.head.Store(next)
	close(h.next)
	return next
}

// publishAway publishes that the tab is being restored. Events of its pages are held until it is restored.
func (p *publisher) publishAway() {
	h := p.t.head.Load()
	info := h.Info
	info.Status, info.Restore, info.Dialog = StatusRestoring, p.t.restorable.Load(), nil
	info.Frozen, info.Tools = false, nil
	if info != h.Info {
		h = p.replace(h, h.follow(h.Snapshot, info, h.refs, p.t.limits), h.view)
	}
	held := p.events[:0]
	for _, e := range p.events {
		switch {
		case e.Kind == TabCrashed || e.Kind == TabRestoring:
			e.Info, e.At = h.Info, time.Now()
			p.t.owner.Report(e)
		case len(held) < heldEvents:
			held = append(held, e)
		}
	}
	p.events = held
	p.t.answered.Reach(p.t.dialogs.LastClosed())
}

// info returns the Info of the tab without its revision and epoch.
func (p *publisher) info() Info {
	url, title, httpStatus := p.t.nav.Page()
	return Info{
		ID: p.t.id, Session: p.t.session, Opener: p.t.opener, URL: url, Title: title, HTTPStatus: httpStatus,
		Status: p.status(), Dialog: p.t.dialogs.Open(), Tools: p.t.tools, Restore: p.t.restorable.Load(), Why: p.t.recovery.Why(), Frozen: p.t.freezer.frozen,
		TakenOver: p.t.page().TakenOver(),
	}
}

// status derives the tab's status.
func (p *publisher) status() Status {
	switch {
	case p.t.closed:
		return StatusClosed
	case p.t.recovery.Away():
		return StatusRestoring
	case p.t.health.Crashed():
		return StatusCrashed
	case p.t.health.Unresponsive():
		return StatusUnresponsive
	case p.t.nav.Loading():
		return StatusLoading
	}
	return StatusReady
}

// save passes the tab's Record to the RestoreStore if it has changed.
func (p *publisher) save() {
	if !p.t.restorable.Load() && !p.t.keepAll {
		if p.t.recovery.Saved() {
			p.t.recovery.Forget()
			p.t.restoreStore.Forget(p.t.id)
		}
		return
	}
	if p.t.recovery.Away() || p.t.ctx.Err() != nil {
		return // the stored Record remains valid
	}
	now := restore.Record{ID: p.t.id, Session: p.t.session, URL: p.t.nav.Address(), Viewport: p.t.viewport}
	if saved, changed := p.t.recovery.Save(now, p.t.doc.NextRef(), time.Now()); changed {
		p.t.restoreStore.Keep(saved)
	}
}
