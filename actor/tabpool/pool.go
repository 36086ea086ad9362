// Package tabpool opens, finds and closes the tabs of a browser. Each is an actor.Tab.
//
// # Guarantees
//
//   - The number of pages never exceeds the tab limits, including popups. A page whose opening was abandoned counts until the browser has
//     removed it.
//   - Popups become tabs in the order in which the browser reports them. A popup over a limit is closed immediately.
//   - Tab IDs are never reused.
//   - A tab in use is not closed as idle. One lock decides between a call that starts and the closing of an idle tab.
//   - A reader of tab events (Watch) that falls behind is ended, and never delays others.
//   - Pool.Close returns when all goroutines of the pool and its tabs have ended.
//
// # Obligations of callers
//
// Call Stop for each Watch, and Pool.Close at the end, before the browser is stopped.
//
// # Implementation
//
// The parts of the pool (slots, uses, watchers, downloadLog) are plain values behind one lock, because most events change several of them.
// The adopter turns popups into tabs, and pageOpener opens pages.
package tabpool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Pool opens, finds and closes tabs. Its methods are safe for concurrent use.
type Pool struct {
	browser driver.Browser
	cfg     Config
	// ctx ends with the pool. Its cause is the reason.
	ctx     context.Context
	end     context.CancelCauseFunc
	pages   pageOpener
	adopter *adopter

	// mu guards the fields below. One lock guards all parts, because most events change several of them.
	mu sync.Mutex
	// tabs is in the order of opening. opened counts all tabs that were ever opened.
	tabs   []*member
	opened int
	// lost is the reason why no more tabs can be opened.
	lost      *apierr.Error
	slots     slots
	uses      uses
	watchers  watchers
	downloads downloadLog
	// observe receives the events of all tabs, unless it is nil.
	observe func(*actor.Tab, actor.TabEvent)
	// dialogs holds the policies of sessions. The dialogs of all other sessions are reported.
	dialogs map[string]driver.DialogPolicy
}

// member is a tab of the pool.
type member struct {
	*actor.Control
	// stopped is closed when the tab has ended, its page is closed, and its slot is free.
	stopped chan struct{}
}

// New creates a pool and starts to adopt popups. Close ends it.
func New(b driver.Browser, cfg Config) *Pool {
	cfg = cfg.withDefaults()
	p := &Pool{
		browser: b, cfg: cfg, slots: newSlots(cfg), uses: uses{}, watchers: watchers{}, downloads: downloadLog{},
		dialogs: map[string]driver.DialogPolicy{driver.DefaultSession: cfg.Dialogs},
	}
	p.adopter = newAdopter(p)
	p.ctx, p.end = context.WithCancelCause(context.Background())
	p.pages = pageOpener{browser: b, pool: p.ctx}
	p.slots.begin()
	go func() {
		defer slot{lock: &p.mu, slots: &p.slots}.end()
		p.adopter.run()
	}()
	return p
}

// OpenOptions configures a tab to open.
type OpenOptions struct {
	// URL is the URL to navigate to. If empty, the tab stays blank.
	URL string
	// Session is the name of the tab's session. If empty, the default session is used.
	Session string
	// Viewport is the size of the layout viewport. Zero selects the session's size, which is 1280 by 800 by default.
	Viewport dom.Box
	Wait     actor.Wait
	// Restore restores the tab when its renderer or its browser dies.
	Restore bool
	// TakeOver is the ID of a driver.OtherPage to take over instead of opening a page. URL must be empty then.
	TakeOver string
	// Alone closes the popups of the tab's page immediately. It is for temporary tabs.
	Alone bool
}

// Open opens a tab and navigates it. If that fails, the tab is closed again, unless the URL is a download (an *Error of kind IsDownload,
// whose Detail has the "tab_id"). Open fails with an *Error of kind NotFound for an unknown session, Exhausted when there are too many
// tabs, or Lost when the browser is gone, or with the errors of Navigate.
func (p *Pool) Open(ctx context.Context, o OpenOptions) (*actor.Tab, error) {
	if o.Session == "" {
		o.Session = driver.DefaultSession
	}
	if err := p.allow(ctx, o); err != nil {
		return nil, err
	}
	reserved, err := p.acquireSlot(o.Session)
	if err != nil {
		return nil, err
	}
	page, err := p.pages.open(ctx, reserved, driver.PageOptions{Session: o.Session, Viewport: o.Viewport, TakeOver: o.TakeOver})
	if err != nil {
		return nil, err
	}
	if o.Alone {
		p.adopter.forbidden.add(page.ID())
	}
	one := p.open(reserved, page, actor.Options{Session: o.Session, Restore: o.Restore, Viewport: o.Viewport}, page.TakenOver())
	t := one.Tab()
	p.mu.Lock()
	release := p.uses.hold(t.ID(), &p.mu)
	p.mu.Unlock()
	defer release()
	if o.TakeOver != "" {
		return p.readTakenOver(ctx, one)
	}
	if o.URL == "" {
		return t, nil
	}
	if _, err := t.Navigate(ctx, o.URL, o.Wait); err != nil {
		if e, ok := errors.AsType[*apierr.Error](err); ok && e.Kind == apierr.IsDownload && ctx.Err() == nil { // closing the tab would cancel the download
			named := *e
			named.Detail = maps.Clone(e.Detail)
			named.Detail["tab_id"] = t.ID()
			return nil, &named
		}
		p.adopter.abandon(one)
		<-t.Done()
		select { // the page is closed in any case, but a caller without time left does not wait for that
		case <-one.stopped:
		case <-ctx.Done():
		}
		return nil, openError(err)
	}
	return t, nil
}

// allow returns an error if a tab must not be opened because of its URL, or because of the URL that a page to take over shows.
func (p *Pool) allow(ctx context.Context, o OpenOptions) error {
	if o.URL != "" {
		return p.cfg.AllowURL(o.URL)
	}
	if o.TakeOver == "" {
		return nil
	}
	others, err := p.browser.OtherPages(ctx)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ID == o.TakeOver {
			return p.cfg.AllowURL(other.URL)
		}
	}
	return nil // the browser reports that there is none
}

// readTakenOver reads a page that was taken over, so that its tab has the page's URL and title. A page that cannot be read now is a tab
// nevertheless, for example because a dialog is open. If ctx ends first, the page is handed back.
func (p *Pool) readTakenOver(ctx context.Context, one *member) (*actor.Tab, error) {
	if _, err := one.Tab().Read(ctx, actor.ReadOptions{}); err == nil || ctx.Err() == nil {
		return one.Tab(), nil
	}
	p.adopter.abandon(one)
	<-one.Tab().Done()
	return nil, fmt.Errorf("the tab was not read in time, and was handed back: try again with a longer timeout: %w", ctx.Err())
}

// Others lists the pages of the browser that are not tabs; see driver.Browser.
func (p *Pool) Others(ctx context.Context) ([]driver.OtherPage, error) {
	return p.browser.OtherPages(ctx)
}

// openError returns the error for a tab that failed to open and was closed. It names no tab, because the tab no longer exists.
func openError(err error) error {
	_, isOurs := errors.AsType[*apierr.Error](err)
	switch {
	case apierr.Is(err, apierr.Lost) || apierr.Is(err, apierr.Restoring):
		return &apierr.Error{Kind: apierr.Lost, Message: "the page crashed while it loaded, and its tab was closed: open it again"}
	case isOurs:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the page did not load in time, and its tab was closed: open it again with a longer timeout: %w", context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("opening the tab was cancelled, and it was closed: %w", context.Canceled)
	}
	return err
}

// acquireSlot acquires a slot for a page of a session, and makes Close wait for the caller.
func (p *Pool) acquireSlot(session string) (slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost != nil {
		return slot{}, p.lost
	}
	if err := p.slots.acquire(session); err != nil {
		return slot{}, err
	}
	return slot{lock: &p.mu, slots: &p.slots, session: session}, nil
}

// open creates a tab for a page. A bound page already shows its own document instead of the blank one.
func (p *Pool) open(reserved slot, page driver.Page, o actor.Options, bound bool) *member {
	browser := p.browser.Owner(o.Session)
	return p.start(reserved, func() *actor.Control {
		p.opened++
		o.ID, o.URL = tabID(browser, p.opened, p.cfg.Opaque(o.Session)), "about:blank"
		c := actor.New(p.ctx, page, p.cfg.options(o), owner{p})
		if !bound {
			c.Show()
		}
		return c
	})
}

// start creates a tab, adds it to the pool, and runs it in the slot reserved for its page. The lock is held while create runs.
func (p *Pool) start(reserved slot, create func() *actor.Control) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := &member{create(), make(chan struct{})}
	t := one.Tab()
	if policy := p.dialogs[t.Session()]; policy != driver.ReportDialogs {
		t.SetDialogPolicy(policy)
	}
	now := time.Now()
	p.tabs = append(p.tabs, one)
	p.uses.add(t.ID(), now)
	opened := actor.TabEvent{Kind: actor.TabOpened, Info: t.Info(), At: now}
	p.watchers.send(opened)
	if p.observe != nil {
		p.observe(t, opened)
	}
	go func() {
		defer reserved.end()
		one.Run()
		reserved.free()
		close(one.stopped)
	}()
	return one
}

// owner implements actor.Owner for the pool's tabs.
type owner struct{ *Pool }

// Report handles an event of a tab.
func (p owner) Report(e actor.TabEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.observe != nil {
		p.observed(e)
	}
	if e.Kind == actor.TabClosed {
		p.tabs = slices.DeleteFunc(p.tabs, func(m *member) bool { return m.Tab().ID() == e.Info.ID })
		p.uses.remove(e.Info.ID)
	}
	p.downloads.record(e)
	p.watchers.send(e)
	if p.lost != nil && len(p.tabs) == 0 {
		p.watchers.end(p.lost) // no more events can follow
	}
}

// observed passes an event to the observer. The lock is held.
func (p owner) observed(e actor.TabEvent) {
	if i := slices.IndexFunc(p.tabs, func(m *member) bool { return m.Tab().ID() == e.Info.ID }); i >= 0 {
		p.observe(p.tabs[i].Tab(), e)
	}
}

// Observe sets a function that receives the events of all tabs from now on, before callers that wait for these events resume: an action
// that navigates ends after the function has received the navigation. The function first receives a TabOpened event for each open tab. It
// is called with the pool's lock held, must not block, and must not call the pool. There is only one observer.
func Observe(p *Pool, f func(*actor.Tab, actor.TabEvent)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observe = f
	for _, m := range p.tabs {
		f(m.Tab(), actor.TabEvent{Kind: actor.TabOpened, Info: m.Tab().Info(), At: time.Now()})
	}
}

// SettlePopups returns when each popup that the browser has reported so far has become a tab or was refused.
func (p owner) SettlePopups(ctx context.Context) { p.adopter.settle(ctx) }

// Reopen opens another page for a tab.
func (p owner) Reopen(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	return p.pages.reopen(ctx, o)
}

// endAll ends all tabs because the browser is gone.
func (p *Pool) endAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost == nil {
		p.lost = apierr.Errorf(apierr.Lost, "the browser is gone: restart the daemon")
	}
	for _, m := range p.tabs {
		m.End(p.lost)
	}
	if len(p.tabs) == 0 {
		p.watchers.end(p.lost)
	}
}

// Tab returns a tab. It fails with an *Error of kind NotFound if there is none with that ID.
func (p *Pool) Tab(id string) (*actor.Tab, error) {
	m, err := p.member(id)
	if err != nil {
		return nil, err
	}
	return m.Tab(), nil
}

// member returns the pool's entry of a tab.
func (p *Pool) member(id string) (*member, error) {
	for _, m := range p.members() {
		if m.Tab().ID() == id {
			return m, nil
		}
	}
	return nil, NoTab(id)
}

// NoTab returns the error for an unknown tab.
func NoTab(id string) *apierr.Error {
	return apierr.Unknown("tab", "unknown tab %q: list the tabs, or open one", id)
}

// Tabs returns the open tabs, oldest first.
func (p *Pool) Tabs() []*actor.Tab {
	members := p.members()
	tabs := make([]*actor.Tab, len(members))
	for i, m := range members {
		tabs[i] = m.Tab()
	}
	return tabs
}

// members returns the pool's entries of the open tabs, oldest first.
func (p *Pool) members() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tabs)
}

// CloseTab closes a tab, even if its page hangs, and returns when the browser has released the page. If ctx ends before that, the tab is
// still closed.
func (p *Pool) CloseTab(ctx context.Context, id string) error {
	m, err := p.member(id)
	if err != nil {
		return err
	}
	m.End(actor.ErrClosed)
	select {
	case <-m.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("tab %s is closed, but the browser has not released its page yet: %w", id, ctx.Err())
	}
}

// closedWith returns the error for tabs whose session was closed.
func closedWith(session string) *apierr.Error {
	return &apierr.Error{Kind: apierr.Closed, Message: "session " + session + " was closed and its tabs with it: open a tab in another session", Err: actor.ErrClosed}
}

// CloseSession closes the tabs of a session and ends the session's watches. Calls and watches fail with cause; if that is nil, with an
// error that the session was closed. CloseSession returns when the browser has released the pages. If ctx ends before that, the tabs are
// still closed. The caller must not open tabs in the session during the call.
func (p *Pool) CloseSession(ctx context.Context, session string, cause *apierr.Error) error {
	watches := cause
	if cause == nil {
		watches = apierr.Unknown("session", "session %q was closed: list the sessions, or create one", session)
		cause = closedWith(session)
	}
	var ending []*member
	for _, m := range p.members() {
		if m.Tab().Session() == session {
			m.End(cause)
			ending = append(ending, m)
		}
	}
	p.mu.Lock()
	p.watchers.endSession(session, watches)
	p.mu.Unlock()
	for _, m := range ending {
		select {
		case <-m.stopped:
		case <-ctx.Done():
			return fmt.Errorf("the tabs of session %s are closed, but the browser has not released their pages yet: %w", session, ctx.Err())
		}
	}
	return nil
}

// Close ends all tabs, whose Err is then an *Error of kind Lost, and waits until all goroutines of the pool have ended. If ctx ends before
// that, they end in the background. Another call waits again. The caller stops the browser afterwards.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.lost == nil {
		p.lost = apierr.Errorf(apierr.Lost, "the daemon is stopping: connect again later")
	}
	p.end(p.lost)
	p.slots.close()
	p.mu.Unlock()
	var err error
	select {
	case <-p.slots.idle:
	case <-ctx.Done():
		err = fmt.Errorf("some pages were not closed in time: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers.end(p.lost)
	return err
}

// SetDialogPolicy sets the dialog policy of a session, for its open tabs and for future ones.
func (p *Pool) SetDialogPolicy(session string, policy driver.DialogPolicy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialogs[session] = policy; policy == driver.ReportDialogs {
		delete(p.dialogs, session)
	}
	for _, m := range p.tabs {
		if t := m.Tab(); t.Session() == session {
			t.SetDialogPolicy(policy)
		}
	}
}

// DialogPolicy returns the dialog policy of a session.
func (p *Pool) DialogPolicy(session string) driver.DialogPolicy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialogs[session]
}
