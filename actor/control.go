package actor

import (
	"context"
	"errors"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

var (
	// ErrClosed is the cause when a tab is closed on request. The tab's Err is nil in that case.
	ErrClosed = errors.New("the tab was closed")
	// ErrIdle is the cause when a tab is closed because it was idle. Its TabClosed event has the reason "idle".
	ErrIdle = errors.New("it was idle")
)

// Control is the owner's handle of a tab. The owner runs and ends the tab and reports its popups; all others use only the Tab. The methods
// are safe for concurrent use, and only Run blocks.
type Control struct {
	tab  *Tab
	loop *loop
}

// New creates a tab for a page. The tab does nothing until Run is called, and ends at the latest when ctx ends.
func New(ctx context.Context, page driver.Page, o Options, owner Owner) *Control {
	return newTab(ctx, page, o.withDefaults(), 0, owner)
}

// Resume creates a tab from the Record of another process. The tab has no page until its owner reopens one.
func Resume(ctx context.Context, k restore.Record, o Options, owner Owner) *Control {
	o.ID, o.Session, o.URL, o.Viewport, o.Restore = k.ID, k.Session, dom.WithoutUser(k.URL), k.Viewport, true
	c := newTab(ctx, new(absent), o.withDefaults(), k.Refs, owner)
	c.loop.restorer.resume(k)
	return c
}

// Tab returns the handle that other packages use.
func (c *Control) Tab() *Tab { return c.tab }

// Run runs the tab. It returns when the tab has ended, its page is closed and its goroutines have returned.
func (c *Control) Run() {
	if c.tab.past != nil {
		c.runRecorded()
		return
	}
	c.loop.run()
}

// End ends the tab. Cause is ErrClosed, or an *apierr.Error that calls and Tab.Err then return.
func (c *Control) End(cause error) { c.tab.end(cause) }

// Show marks the tab as readable before its page has reported anything. It must be called before Run.
func (c *Control) Show() { c.tab.show() }

// PageID returns the browser's ID of the tab's current page. It is empty if the tab has no page.
func (c *Control) PageID() string { return c.tab.page().ID() }

// AdmitPopup reports whether another popup of the page may become a tab, and counts it.
func (c *Control) AdmitPopup() bool { return c.tab.popupBudget.Admits() }

// Freeze sets whether the page should be frozen. The page is frozen between calls, once it has no open dialog, no download and nothing to
// load. A call thaws it, and it is frozen again afterwards unless the owner has called Freeze(false).
func (c *Control) Freeze(on bool) {
	c.tab.freeze.Store(on)
	c.tab.requestPublish()
}

// RefusedPopup records that a popup of the page was refused. The result of the running action reports it.
func (c *Control) RefusedPopup() { c.tab.popupBudget.Refused() }

// OpenedPopup reports the ID of the tab that was created for a popup of the page.
func (c *Control) OpenedPopup(id string) {
	select {
	case c.tab.popups <- id:
	default: // the running call already has enough tabs
	}
}
