package tabpool

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/sideeffects"
)

// adopter turns popups into tabs. It is run by one goroutine, so popups become tabs in the order in which the browser reports them.
type adopter struct {
	pool *Pool
	// forbidden holds the pages whose popups are closed immediately.
	forbidden popupBlocklist
	// requests receives requests to adopt the queued popups now. stopped is closed when the adopter has stopped.
	requests chan chan struct{}
	stopped  chan struct{}
	// refusals waits for the pages that are being closed.
	refusals sync.WaitGroup
}

func newAdopter(pool *Pool) *adopter {
	return &adopter{pool: pool, requests: make(chan chan struct{}), stopped: make(chan struct{})}
}

// run adopts popups until the pool or the browser ends, and returns when the refused pages are closed.
func (a *adopter) run() {
	defer a.refusals.Wait()
	defer close(a.stopped)
	for {
		select {
		case <-a.pool.ctx.Done():
			return
		case popup, ok := <-a.pool.browser.Pages():
			if !a.arrived(popup, ok) {
				return
			}
		case settled := <-a.requests:
			if !a.adoptQueued() {
				return
			}
			close(settled)
		}
	}
}

// adoptQueued adopts the popups that are already queued. It returns false if the browser is gone.
func (a *adopter) adoptQueued() bool {
	for {
		select {
		case popup, ok := <-a.pool.browser.Pages():
			if !a.arrived(popup, ok) {
				return false
			}
		default:
			return true
		}
	}
}

// arrived adopts a popup. It returns false if the browser is gone.
func (a *adopter) arrived(popup driver.Popup, ok bool) bool {
	if !ok {
		a.pool.endAll()
		return false
	}
	a.adopt(popup)
	return true
}

// settle returns when every popup that the browser has reported so far has become a tab or was refused.
func (a *adopter) settle(ctx context.Context) {
	settled := make(chan struct{})
	select {
	case a.requests <- settled:
	case <-a.stopped:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-settled:
	case <-a.stopped:
	}
}

// adopt creates a tab for a popup, or closes the popup.
func (a *adopter) adopt(popup driver.Popup) {
	if a.forbidden.has(popup.Opener) {
		a.forbidden.add(popup.Page.ID()) // this page may open more popups before it is closed
		a.refuse(popup.Page)
		return
	}
	opener, session := a.openerOf(popup), cmp.Or(popup.Session, driver.DefaultSession)
	reserved, err := a.admit(opener, session)
	if err != nil {
		a.report(opener, err)
		a.refuse(popup.Page)
		return
	}
	o := actor.Options{Session: session}
	if opener != nil {
		o.Opener = opener.Tab().ID()
	}
	one := a.pool.open(reserved, popup.Page, o, popup.Bound)
	if opener != nil {
		opener.OpenedPopup(one.Tab().ID())
	}
}

// openerOf returns the tab that opened a popup, or nil if the tab is gone or unknown.
func (a *adopter) openerOf(popup driver.Popup) *member {
	for _, m := range a.pool.members() {
		if popup.Opener != "" && m.PageID() == popup.Opener {
			return m
		}
	}
	return nil
}

// admit acquires a slot for a popup, unless its opener has opened too many.
func (a *adopter) admit(opener *member, session string) (slot, error) {
	if opener != nil && !opener.AdmitPopup() {
		return slot{}, apierr.Exceeded("windows", sideeffects.MaxWindows, "its opener opened more than %d windows at once", sideeffects.MaxWindows)
	}
	return a.pool.acquireSlot(session)
}

// report reports why a popup is refused to its opener's turn, to the log and to the meter.
func (a *adopter) report(opener *member, err error) {
	id := ""
	if opener != nil {
		id = opener.Tab().ID()
		opener.RefusedPopup()
	}
	cfg := &a.pool.cfg
	cfg.Logger.Warn("a popup was closed immediately", "opener", id, "err", err)
	var exceeded *apierr.Error
	if cfg.Meter != nil && errors.As(err, &exceeded) && exceeded.Detail["limit"] != "" {
		cfg.Meter.Refused(exceeded.Detail["limit"])
	}
}

// refuse closes a page that does not become a tab.
func (a *adopter) refuse(page driver.Page) {
	a.refusals.Go(func() {
		if err := driver.Discard(a.pool.ctx, page); err != nil {
			a.pool.cfg.Logger.Warn("the browser did not close a popup in time", "err", err)
		}
	})
}

// abandon closes a tab that could not be opened, the tabs that its page has opened, and the popups that those pages are about to open,
// because no client knows them.
func (a *adopter) abandon(failed *member) {
	closing := map[string]bool{failed.Tab().ID(): true}
	failed.End(actor.ErrClosed)
	for _, m := range a.pool.members() { // openers precede the tabs that they opened
		if m == failed || closing[m.Tab().Info().Opener] {
			closing[m.Tab().ID()] = true
			if page := m.PageID(); page != "" {
				a.forbidden.add(page)
			}
			m.End(actor.ErrClosed)
		}
	}
}
