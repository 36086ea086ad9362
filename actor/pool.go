package actor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// DefaultSession is the name of the session that exists always.
const DefaultSession = "default"

// Config tunes a pool. The zero value is usable.
type Config struct {
	// MaxTabs is how many tabs may be open at once, popups included; 0: 100.
	MaxTabs int
	// Mailbox is how many calls may wait for one tab; 0: 64.
	Mailbox int
	// LogCount and LogBytes bound what each tab keeps of earlier revisions: how many, and about how many
	// bytes of what has changed since; 0: 1024 and 4 MiB. A small page keeps less: 96 KiB, or what twice its elements take.
	LogCount, LogBytes int
	// Logger takes what nobody can be told otherwise; nil: nobody.
	Logger *slog.Logger
	// AllowURL says whether tabs may go to a URL; its error should be an *Error of kind Refused. Nil:
	// everywhere. It is called by many goroutines at once.
	AllowURL func(url string) error
	// NavigationTimeout bounds navigations whose context has no deadline; 0: 30 s.
	NavigationTimeout time.Duration
	// Dialogs says who answers the dialogs of the default session, until SetDialogPolicy says otherwise.
	Dialogs driver.DialogPolicy
	// Meter counts what the tabs do; nil: nothing is measured.
	Meter Meter
	// Tracer traces the turns of tabs; nil: nobody.
	Tracer Tracer
	// Keeper keeps the tabs that are brought back, for the next process; nil: nobody does.
	Keeper Keeper
	// Opaque says of which sessions the tabs have ids that cannot be guessed and do not tell how many tabs there are; nil:
	// of none.
	Opaque func(session string) bool
	// Quota says which client's the tabs of a session are, and how many that one may have, so that it leaves room for others. No
	// name, or nil: nobody's, as many as MaxTabs allows.
	Quota func(session string) (client string, tabs int)
}

func (c Config) withDefaults() Config {
	c.MaxTabs = orDefault(c.MaxTabs, 100)
	c.Mailbox = orDefault(c.Mailbox, 64)
	c.LogCount = orDefault(c.LogCount, 1024)
	c.LogBytes = orDefault(c.LogBytes, 4<<20)
	c.NavigationTimeout = orDefault(c.NavigationTimeout, 30*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.AllowURL == nil {
		c.AllowURL = func(string) error { return nil }
	}
	if c.Quota == nil {
		c.Quota = func(string) (string, int) { return "", 0 }
	}
	return c
}

func orDefault[T int | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// Pool opens, finds and closes tabs. Its methods are safe for concurrent use.
type Pool struct {
	browser driver.Browser
	cfg     Config
	ctx     context.Context
	end     context.CancelCauseFunc

	mu sync.Mutex
	// tabs are in the order in which they were opened.
	tabs []*Tab
	// opened counts the tabs that there ever were.
	opened int
	// slots counts what holds a page; running counts goroutines and calls that Close waits for.
	slots, running int
	// taken counts the slots of each client that has a quota.
	taken map[string]int
	// gone is why no more tabs can be opened.
	gone    *apierr.Error
	readers map[*TabWatch]struct{}
	// records are the downloads of the sessions, oldest first.
	records map[string][]DownloadRecord
	// dialogs are the policies of the sessions; one that is not in it reports.
	dialogs map[string]driver.DialogPolicy
	// popups asks for what is queued to be adopted now; adopted is closed when nobody adopts any more.
	popups  chan chan struct{}
	adopted chan struct{}
	closed  bool
	idle    chan struct{}
	alone   loners
}

// NewPool makes a pool and starts to take over popups. Close ends it.
func NewPool(b driver.Browser, cfg Config) *Pool {
	p := &Pool{
		browser: b, cfg: cfg.withDefaults(), readers: map[*TabWatch]struct{}{}, records: map[string][]DownloadRecord{}, idle: make(chan struct{}), running: 1,
		popups: make(chan chan struct{}), adopted: make(chan struct{}), dialogs: map[string]driver.DialogPolicy{},
		taken: map[string]int{},
	}
	p.dialogs[DefaultSession] = p.cfg.Dialogs
	p.ctx, p.end = context.WithCancelCause(context.Background())
	go p.adoptPopups()
	return p
}

// OpenOptions says what tab to open.
type OpenOptions struct {
	// URL is navigated to; empty: the tab stays blank.
	URL string
	// Session is the name of the session to open it in; empty: the default one.
	Session string
	// Viewport is the size of the layout viewport; zero: what the session says, 1280 by 800 by default.
	Viewport dom.Box
	Wait     Wait
	// Restore brings the tab back when its renderer or its browser dies.
	Restore bool
	// Alone closes at once what the tab's page opens: for tabs that are thrown away.
	Alone bool
}

// Open opens a tab and navigates it. When that fails the tab is closed again, unless the URL is a download (an *Error of
// kind IsDownload, whose Detail has the "tab_id"). Errors are *Error of
// kind NotFound for an unknown session, Exhausted when there are too many tabs, Lost when the browser
// is gone, and those of Navigate.
func (p *Pool) Open(ctx context.Context, o OpenOptions) (*Tab, error) {
	if o.Session == "" {
		o.Session = DefaultSession
	}
	if o.URL != "" {
		if err := p.cfg.AllowURL(o.URL); err != nil {
			return nil, err
		}
	}
	if err := p.reserve(o.Session); err != nil {
		return nil, err
	}
	page, err := p.newPage(ctx, driver.PageOptions{Session: o.Session, Viewport: o.Viewport})
	if err != nil {
		return nil, err
	}
	if o.Alone {
		p.alone.add(page.ID())
	}
	t := p.start(page, Info{Session: o.Session, Restore: o.Restore}, o.Viewport, false)
	p.mu.Lock()
	release := p.hold(t)
	p.mu.Unlock()
	defer release()
	if o.URL == "" {
		return t, nil
	}
	if _, err := t.Navigate(ctx, o.URL, o.Wait); err != nil {
		var e *apierr.Error
		if errors.As(err, &e) && e.Kind == apierr.IsDownload && ctx.Err() == nil { // closing the tab would end it
			told := *e
			told.Detail = maps.Clone(e.Detail)
			told.Detail["tab_id"] = t.id
			return nil, &told
		}
		p.abandon(t)
		<-t.done
		select { // the page is closed in any case, but who has no time left does not wait for it
		case <-t.stopped:
		case <-ctx.Done():
		}
		return nil, unopened(err)
	}
	return t, nil
}

// unopened is the error of a tab whose page did not come, and which was closed: it says nothing of a tab to go on with.
func unopened(err error) error {
	var e *apierr.Error
	switch {
	case errors.As(err, &e) && (e.Kind == apierr.Lost || e.Kind == apierr.Restoring):
		return &apierr.Error{Kind: apierr.Lost, Message: "the page crashed while it was loaded, and its tab was closed: open it again"}
	case errors.As(err, &e):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the page was not loaded in time, and its tab was closed: open it again with more time: %w", context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("opening the tab was cancelled, and it was closed: %w", context.Canceled)
	}
	return err
}

// abandon closes a tab that could not be opened, with the tabs that its page has opened and those that it is about to open:
// nobody knows of them.
func (p *Pool) abandon(t *Tab) {
	closing := map[string]bool{t.id: true}
	t.end(errClosed)
	for _, one := range p.Tabs() { // an opener is older than what it opened
		if one == t || closing[one.Info().Opener] {
			closing[one.id] = true
			if page := one.page().ID(); page != "" {
				p.alone.add(page)
			}
			one.end(errClosed)
		}
	}
}

// newPage opens a page in the slot that is reserved for it, and gives that back when it fails.
func (p *Pool) newPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	page, err := p.browser.NewPage(inner, o)
	if err == nil {
		return page, nil
	}
	p.giveBack(o.Session, err)
	switch {
	case p.ctx.Err() != nil:
		return nil, context.Cause(p.ctx)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the browser did not open a page in time: try again with more time: %w", ctx.Err())
	}
	return nil, fmt.Errorf("open a page: %w", err)
}

// giveBack gives back the slot of a page that could not be opened, when nothing of that page is left in the browser: a client
// whose calls end early must not have more pages than others.
func (p *Pool) giveBack(session string, err error) {
	left := driver.Leftover(err)
	if left == nil {
		p.free(session)
		p.release()
		return
	}
	go func() {
		defer p.release()
		select {
		case <-left:
		case <-p.ctx.Done():
		}
		p.free(session)
	}()
}

// reserve takes a slot for a page of a session, and lets Close wait for it.
func (p *Pool) reserve(session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		return p.gone
	}
	if p.slots >= p.cfg.MaxTabs {
		return apierr.Exceeded("tabs", p.cfg.MaxTabs, "there are %d tabs, which is the limit: close one first, or raise --max-tabs", p.slots)
	}
	if client, most := p.cfg.Quota(session); client != "" {
		if p.taken[client] >= most {
			err := apierr.Exceeded("tabs_per_client", most, "this client has %d tabs, which is the limit: close one first, or raise --max-tabs-per-client", p.taken[client])
			err.Client = client
			return err
		}
		p.taken[client]++
	}
	p.slots++
	p.running++
	return nil
}

// free gives a slot back.
func (p *Pool) free(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots--
	if client, _ := p.cfg.Quota(session); client != "" {
		if p.taken[client]--; p.taken[client] == 0 {
			delete(p.taken, client)
		}
	}
}

// release says that one goroutine or call has ended.
func (p *Pool) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.settle()
}

// settle tells Close when nothing runs any more.
func (p *Pool) settle() {
	if p.closed && p.running == 0 {
		select {
		case <-p.idle:
		default:
			close(p.idle)
		}
	}
}

// start makes a tab of a page whose slot is reserved.
func (p *Pool) start(page driver.Page, info Info, viewport dom.Box, bound bool) *Tab {
	owner := p.browser.Owner(info.Session)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	info.ID, info.URL = p.tabID(owner, info.Session), "about:blank"
	t := newTab(p.ctx, page, info, &p.cfg, p)
	t.viewport = viewport
	if !bound {
		t.show()
	}
	p.enter(t)
	return t
}

// enter makes a tab one of the pool's and starts it; the caller holds the lock.
func (p *Pool) enter(t *Tab) {
	if policy := p.dialogs[t.session]; policy != driver.ReportDialogs {
		t.SetDialogPolicy(policy)
	}
	t.use.last = time.Now()
	p.tabs = append(p.tabs, t)
	p.broadcast(TabEvent{Kind: TabOpened, Info: t.Info(), At: time.Now()})
	go func() {
		defer p.release()
		t.run()
		p.free(t.session)
		close(t.stopped)
	}()
}

// tabID makes the id of the tab that was opened last. To clients it is opaque; it names the tab's browser, so that calls
// can be routed by it.
func (p *Pool) tabID(owner, session string) string {
	id := "t" + strconv.Itoa(p.opened)
	if p.cfg.Opaque != nil && p.cfg.Opaque(session) {
		id = "t-" + unguessable()
	}
	if owner == "" {
		return id
	}
	return owner + "-" + id
}

// tell takes an event of a tab.
func (p *Pool) tell(e TabEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == TabClosed {
		p.tabs = slices.DeleteFunc(p.tabs, func(t *Tab) bool { return t.id == e.Info.ID })
	}
	p.record(e)
	p.broadcast(e)
	p.dismiss()
}

// dismiss ends the readers of tab events when there can be no more events, because the browser is gone and
// every tab has said so; the caller holds the lock.
func (p *Pool) dismiss() {
	if p.gone == nil || len(p.tabs) > 0 {
		return
	}
	for w := range p.readers {
		w.finish(p.gone)
		delete(p.readers, w)
	}
}

// broadcast queues an event for every reader; the caller holds the lock.
func (p *Pool) broadcast(e TabEvent) {
	for w := range p.readers {
		if w.sees(e.Info.Session) && !w.add(e) {
			delete(p.readers, w)
		}
	}
}

// adoptPopups makes tabs of the pages that pages open, until the pool or the browser ends.
func (p *Pool) adoptPopups() {
	defer p.release()
	defer close(p.adopted)
	for {
		select {
		case <-p.ctx.Done():
			return
		case popup, ok := <-p.browser.Pages():
			if !p.arrived(popup, ok) {
				return
			}
		case settled := <-p.popups:
			if !p.adoptQueued() {
				return
			}
			close(settled)
		}
	}
}

// adoptQueued takes over the popups that are queued already; false when the browser is gone.
func (p *Pool) adoptQueued() bool {
	for {
		select {
		case popup, ok := <-p.browser.Pages():
			if !p.arrived(popup, ok) {
				return false
			}
		default:
			return true
		}
	}
}

// arrived takes over a popup; false when the browser is gone.
func (p *Pool) arrived(popup driver.Popup, ok bool) bool {
	if !ok {
		p.lose()
		return false
	}
	p.adopt(popup)
	return true
}

func (p *Pool) settlePopups(ctx context.Context) {
	settled := make(chan struct{})
	select {
	case p.popups <- settled:
	case <-p.adopted:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-settled:
	case <-p.adopted:
	}
}

func (p *Pool) adopt(popup driver.Popup) {
	if p.alone.has(popup.Opener) {
		p.alone.add(popup.Page.ID()) // it may open more before it is gone
		p.refuse(popup.Page)
		return
	}
	opener, session := p.byPage(popup.Opener), cmp.Or(popup.Session, DefaultSession)
	id := ""
	if opener != nil {
		id = opener.id
	}
	err := error(nil)
	if opener != nil && !opener.windows.admits() {
		err = apierr.Exceeded("windows", maxWindows, "its opener opened more than %d windows at once", maxWindows)
	}
	if err == nil {
		err = p.reserve(session)
	}
	if err != nil {
		if opener != nil {
			opener.windows.refused.Add(1)
		}
		p.cfg.Logger.Warn("a popup was closed at once", "opener", id, "err", err)
		var exceeded *apierr.Error
		if p.cfg.Meter != nil && errors.As(err, &exceeded) && exceeded.Detail["limit"] != "" {
			p.cfg.Meter.Refused(exceeded.Detail["limit"])
		}
		p.refuse(popup.Page)
		return
	}
	t := p.start(popup.Page, Info{Session: session, Opener: id}, dom.Box{}, popup.Bound)
	if opener != nil {
		select {
		case opener.popups <- t.id:
		default: // its turn has heard of enough tabs
		}
	}
}

// refuse closes a page that becomes no tab.
func (p *Pool) refuse(page driver.Page) {
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
	go func() {
		defer p.release()
		if err := discard(p.ctx, page); err != nil {
			p.cfg.Logger.Warn("the browser did not close a popup in time", "err", err)
		}
	}()
}

func (p *Pool) byPage(id string) *Tab {
	for _, t := range p.Tabs() {
		if id != "" && t.page().ID() == id {
			return t
		}
	}
	return nil
}

// lose ends all tabs because the browser is gone.
func (p *Pool) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = apierr.Errorf(apierr.Lost, "the browser is gone: start it again")
	}
	for _, t := range p.tabs {
		t.end(p.gone)
	}
	p.dismiss()
}

// Tab finds a tab; an *Error of kind NotFound when there is none of that id.
func (p *Pool) Tab(id string) (*Tab, error) {
	for _, t := range p.Tabs() {
		if t.id == id {
			return t, nil
		}
	}
	return nil, NoTab(id)
}

// NoTab is the error of a call for a tab that there is not.
func NoTab(id string) *apierr.Error {
	return apierr.Unknown("tab", "there is no tab %q: list the tabs, or open one", id)
}

// Tabs lists the open tabs, oldest first.
func (p *Pool) Tabs() []*Tab {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tabs)
}

// CloseTab closes a tab, also when its page hangs, and returns when the browser has let go of the page.
// When ctx ends before that the tab is closed all the same.
func (p *Pool) CloseTab(ctx context.Context, id string) error {
	t, err := p.Tab(id)
	if err != nil {
		return err
	}
	t.end(errClosed)
	select {
	case <-t.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("tab %s is closed, but the browser has not let go of its page yet: %w", id, ctx.Err())
	}
}

// CloseSession closes the tabs of a session, whose calls then say so, and ends the watches of its tabs. It returns
// when the browser has let go of their pages; when ctx ends before that, the tabs are closed all the same. The
// caller sees to it that no tab is opened in the session meanwhile.
func (p *Pool) CloseSession(ctx context.Context, session string) error {
	why := &apierr.Error{Kind: apierr.Closed, Message: "session " + session + " was closed and its tabs with it: open a tab in another session", Err: errClosed}
	var ending []*Tab
	for _, t := range p.Tabs() {
		if t.session == session {
			t.end(why)
			ending = append(ending, t)
		}
	}
	p.endWatches(session)
	for _, t := range ending {
		select {
		case <-t.stopped:
		case <-ctx.Done():
			return fmt.Errorf("the tabs of session %s are closed, but the browser has not let go of their pages yet: %w", session, ctx.Err())
		}
	}
	return nil
}

// Close ends all tabs, whose Err is then an *Error of kind Lost, and waits until every goroutine of the
// pool is gone; when ctx ends before that, they end without being waited for. Calling it again waits
// again. The browser itself is the caller's to stop, afterwards.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	if p.gone == nil {
		p.gone = apierr.Errorf(apierr.Lost, "the daemon is stopping: connect again later")
	}
	p.end(p.gone)
	p.settle()
	p.mu.Unlock()
	var err error
	select {
	case <-p.idle:
	case <-ctx.Done():
		err = fmt.Errorf("some pages were not closed in time: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.readers {
		w.finish(p.gone)
		delete(p.readers, w)
	}
	return err
}
