package actor

import (
	"context"
	"errors"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

var (
	// ErrClosed is why a tab ends that is closed on request: its Err is nil then.
	ErrClosed = errors.New("the tab was closed")
	// ErrIdle is why a tab ends that nobody used. Its TabClosed event has the reason "idle".
	ErrIdle = errors.New("it was idle")
)

// Control is a tab as its owner has it, who runs and ends the tab and knows its popups. Everybody else has the Tab alone.
// Its methods are safe for concurrent use, and none but Run waits.
type Control struct {
	tab  *Tab
	loop *loop
}

// New makes a tab of a page. The tab does nothing until Run is called, and ends at the latest when ctx does.
func New(ctx context.Context, page driver.Page, o Options, owner Owner) *Control {
	return newTab(ctx, page, o.withDefaults(), 0, owner)
}

// Resume makes a tab from the Record of another process. It has no page until its owner reopens one.
func Resume(ctx context.Context, k restore.Record, o Options, owner Owner) *Control {
	o.ID, o.Session, o.URL, o.Viewport, o.Restore = k.ID, k.Session, dom.WithoutUser(k.URL), k.Viewport, true
	c := newTab(ctx, new(absent), o.withDefaults(), k.Refs, owner)
	c.loop.restorer.resume(k)
	return c
}

// Tab is what others have of the tab.
func (c *Control) Tab() *Tab { return c.tab }

// Run is the tab's goroutine. It returns when the tab has ended, its page is closed and its goroutines are gone.
func (c *Control) Run() {
	if c.tab.past != nil {
		c.runRecorded()
		return
	}
	c.loop.run()
}

// End ends the tab. Cause is ErrClosed, or an *apierr.Error, which calls and Tab.Err fail with.
func (c *Control) End(cause error) { c.tab.end(cause) }

// Show says that the tab has something to read, without waiting for what its page reports. It is called before Run.
func (c *Control) Show() { c.tab.show() }

// PageID is the browser's name of the page that the tab has now; empty when it has none.
func (c *Control) PageID() string { return c.tab.page().ID() }

// AdmitPopup reports whether another popup of the page may become a tab, and counts it.
func (c *Control) AdmitPopup() bool { return c.tab.popupBudget.Admits() }

// Freeze says whether the page is to be frozen: between calls, once it has no dialog, no download and nothing to load.
// A call thaws it, and it is frozen again after that if the owner has not said otherwise by then.
func (c *Control) Freeze(on bool) {
	c.tab.freeze.Store(on)
	c.tab.requestPublish()
}

// RefusedPopup says that a popup of the page was refused: the action under way says so in its result.
func (c *Control) RefusedPopup() { c.tab.popupBudget.Refused() }

// OpenedPopup says which tab a popup of the page has become.
func (c *Control) OpenedPopup(id string) {
	select {
	case c.tab.popups <- id:
	default: // the call under way knows enough tabs
	}
}
