// Package browser drives Chromium for the actors: it starts a browser or attaches to one, opens pages,
// installs the observer in their documents, navigates, and sends input. It is the only importer of
// chromedp and cdproto.
//
// chromedp starts and ends the browser and frames its messages; our sessions share its connection
// (see conn), so that an evaluate takes one trip and waits for no listener. A Page has one goroutine
// that turns what the browser says into actor.Events, in order; calls run on the caller's goroutine
// and end with the caller's context.
//
// Callers owe: Close, once, which returns when the browser process, its children and the profile (if it
// was temporary) are gone; and reading every Page's Events until they are closed.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/downloads"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/browser/navigation"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/sessions"
)

// Browser is a running Chromium.
type Browser struct {
	conn    *devtools.Conn
	root    devtools.Session
	process *launch.Browser
	logger  *slog.Logger
	script  string
	// elements is how many are kept of each document; 0: the usual number.
	elements int
	// mask is what is masked in the pages of all sessions.
	mask    sessions.Mask
	version string
	mac     bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	inbox  *devtools.Queue[*cdproto.Message]
	popups chan driver.Popup
	// deliver is where popups go: popups, unless the caller has a channel of its own. Guarded by mu.
	deliver chan<- driver.Popup
	wg      sync.WaitGroup
	done    chan struct{}

	// beside says that nobody uses the default session of this browser.
	beside bool
	// gate is what the traffic goes through, or nil.
	gate launch.Gate
	// downloadDir is where files are kept beyond the browser's end; empty: nowhere.
	downloadDir      string
	maxDownloadBytes int64
	downloads        *downloads.Tracker
	clipboard        *clipboard.Clipboard
	// workers serve no single page.
	workers *emulate.Workers

	mu    sync.Mutex
	pages map[target.ID]*Page
	// left are the tabs that a remote browser may still have when the connection is lost.
	left []target.ID
	// contexts are the sessions by name.
	contexts map[string]*Context
	warm     warm
}

// Config says which browser to use.
type Config = launch.Config

// Find returns the path of the browser to use: path when it is set and can be executed, else the
// first one installed.
func Find(path string) (string, error) { return launch.Find(path) }

// ErrNoSandbox says that the browser ended because the machine gives it nothing to make its sandbox of.
var ErrNoSandbox = launch.ErrNoSandbox

// SandboxNote says why Chromium's own sandbox is off, or nothing when it is on.
func SandboxNote() string { return launch.SandboxNote() }

// Start starts a browser, or attaches to the one that cfg.Remote names. ctx bounds the start only;
// the browser lives until Close.
func Start(ctx context.Context, cfg Config) (*Browser, error) {
	b := newBrowser(ctx, cfg)
	if note := SandboxNote(); note != "" && cfg.Remote == "" {
		b.logger.Warn(note)
	}
	stop := context.AfterFunc(ctx, func() { b.cancel(context.Cause(ctx)) })
	defer stop()
	process, err := launch.Start(b.ctx, cfg, b.inbox.Push)
	if err != nil {
		b.cancel(err)
		return nil, err
	}
	b.attach(process)
	err = b.prepare(ctx)
	if err == nil {
		err = b.passes(ctx)
	}
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("preparing the browser: %w", err), b.Close(closing))
	}
	return b, nil
}

// newBrowser makes a browser without a process. Its life does not end with ctx.
func newBrowser(ctx context.Context, cfg Config) *Browser {
	b := &Browser{
		logger: cfg.Logger, mask: cfg.Mask, script: masking(observer.Limits{Elements: cfg.PageElements}, cfg.Mask), elements: cfg.PageElements,
		inbox: devtools.NewQueue[*cdproto.Message](), popups: make(chan driver.Popup, 64), done: make(chan struct{}), pages: map[target.ID]*Page{},
		beside: cfg.Beside, gate: cfg.Gate, downloadDir: cfg.DownloadDir, maxDownloadBytes: cfg.MaxDownloadBytes,
		contexts: map[string]*Context{}, workers: emulate.NewWorkers(),
	}
	b.deliver = b.popups
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	b.ctx, b.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return b
}

// attach makes the parts that speak to the browser's process, and starts to listen to it.
func (b *Browser) attach(process *launch.Browser) {
	b.process, b.conn = process, process.Conn
	b.root = devtools.Session{Conn: b.conn}
	root := ""
	if process.Owned() {
		root = cmp.Or(b.downloadDir, filepath.Join(process.Dir(), "downloads"))
	}
	b.downloads = downloads.New(b.ctx, b.root, downloads.Config{
		Root: root, Keep: b.downloadDir != "", MaxBytes: b.maxDownloadBytes, Pages: b.downloaders, Logger: b.logger,
	})
	b.clipboard = clipboard.New(b.root, b.logger, process.Owned(), b.shared)
	b.contexts[driver.DefaultSession] = b.newContext("")
	b.contexts[driver.DefaultSession].name = driver.DefaultSession
	b.wg.Go(b.loop)
}

// downloaders are the pages as package downloads sees them.
func (b *Browser) downloaders() []downloads.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]downloads.Page, 0, len(b.pages))
	for _, p := range b.pages {
		all = append(all, downloader{p})
	}
	return all
}

// shared reports whether there is more than one session.
func (b *Browser) shared() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.contexts) > 1
}

// prepare asks the browser to tell about its targets.
func (b *Browser) prepare(ctx context.Context) error {
	v, err := cdp.Call(ctx, b.root, cdpbrowser.GetVersion, cdp.Empty{})
	if err != nil {
		return err
	}
	b.version = v.Product
	b.mac = strings.Contains(v.UserAgent, "Macintosh")
	_, err = cdp.Call(ctx, b.root, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{
		Discover: true, Filter: target.Filter{{Type: "page"}}})
	if err == nil && !b.beside {
		err = b.contexts[driver.DefaultSession].download(ctx, false)
	}
	if err != nil || !b.process.Owned() {
		return err
	}
	// In a browser of our own every new page is held until it is prepared. In somebody else's that would be rude.
	yes := true
	_, err = cdp.Call(ctx, b.root, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true,
		Flatten: &yes, Filter: target.Filter{{Type: "page"}, {Type: "service_worker"}, {Type: "shared_worker"}}})
	if err == nil {
		err = b.contexts[driver.DefaultSession].permit(ctx, sessions.Settings{})
	}
	return err
}

// Version is what the browser calls itself, such as "Chrome/156.0.8078.79".
func (b *Browser) Version() string { return b.version }

// Sent counts the commands that the browser was sent, chromedp's own aside.
func (b *Browser) Sent() uint64 { return b.conn.Sent() }

// Received counts the bytes that the browser has sent; 0 for one that is attached by a websocket.
func (b *Browser) Received() uint64 { return b.conn.Received() }

// Call sends a raw command to the browser, or to one of its sessions, and decodes its answer into result: for measuring
// floors.
func (b *Browser) Call(ctx context.Context, session, method string, params, result any) error {
	return devtools.Session{Conn: b.conn, ID: target.SessionID(session)}.Call(ctx, method, params, result)
}

// Done is closed when the browser is gone, whether asked to or not.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Pages implements driver.Browser.
func (b *Browser) Pages() <-chan driver.Popup { return b.popups }

// Ready implements driver.Browser: a single browser is not started again.
func (b *Browser) Ready(ctx context.Context, _ string) error {
	select {
	case <-b.done:
		return &apierr.Error{Kind: apierr.Lost, Message: "the browser is gone"}
	default:
		return ctx.Err()
	}
}

// Owner implements driver.Browser.
func (b *Browser) Owner(string) string { return "" }

// NewPage implements driver.Browser.
func (b *Browser) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	c, err := b.context(o.Session)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // what is ready is for somebody else
		return nil, context.Cause(ctx)
	}
	if p := c.takeReady(); p != nil {
		if err = p.emulated.Resize(ctx, p.main, o.Viewport); err == nil {
			return p, nil
		}
		p.end(nil) // it is gone, or nobody waits for it any more
		p.drain()
	}
	p, err := b.newPage(ctx, c, o.Viewport)
	if err != nil {
		return nil, b.failed("opening a page", err)
	}
	return p, nil
}

// newPage opens a page in a context.
func (b *Browser) newPage(ctx context.Context, c *Context, viewport dom.Box) (*Page, error) {
	id, err := b.createTarget(ctx, c)
	if err != nil {
		return nil, err
	}
	attached, err := b.root.Attach(ctx, id)
	var p *Page
	if err == nil {
		p, err = b.adopt(ctx, c, id, attached.ID, &viewport)
	}
	if err != nil {
		return nil, unfinished(ctx, err, b.discard(id))
	}
	return p, nil
}

// createTarget opens a blank target in a context.
func (b *Browser) createTarget(ctx context.Context, c *Context) (target.ID, error) {
	params := target.CreateTargetParams{URL: "about:blank", BrowserContextID: c.id}
	undo := func(_ context.Context, made target.CreateTargetResult) { b.closeTarget(made.TargetID) }
	res, removed, err := devtools.Create(ctx, b.root, target.CreateTarget, params, undo)
	var cerr *cdproto.Error
	if errors.As(err, &cerr) { // no window to put the tab in, as in a remote browser without one
		window := true
		params.NewWindow = &window
		res, removed, err = devtools.Create(ctx, b.root, target.CreateTarget, params, undo)
	}
	return res.TargetID, unfinished(ctx, err, removed)
}

// unfinished is the error of something that was not created: when the browser has not removed all of it before ctx ends, an
// *driver.Unfinished. A nil removed says that nothing is to be removed.
func unfinished(ctx context.Context, err error, removed <-chan struct{}) error {
	if err == nil || removed == nil {
		return err
	}
	select {
	case <-removed:
		return err
	case <-ctx.Done():
		return &driver.Unfinished{Err: err, Removed: removed}
	}
}

// discard closes a target that is no page, or none any more. It goes on until the browser has no target of that id, whoever
// waits for the returned channel, which is closed then.
func (b *Browser) discard(id target.ID) <-chan struct{} {
	closed := make(chan struct{})
	b.conn.Go(func() {
		defer close(closed)
		b.closeTarget(id)
	})
	return closed
}

// closeTarget is discard for who waits for it in any case.
func (b *Browser) closeTarget(id target.ID) {
	err := b.root.CloseTarget(context.WithoutCancel(b.ctx), id)
	if err == nil {
		return
	}
	b.logger.Debug("a target was not closed", "error", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.process.Owned() && !slices.Contains(b.left, id) {
		b.left = append(b.left, id) // the next connection closes it
	}
}

// adopt installs the observer in a target that is attached to, and puts the overrides of its session in force. A page without
// a viewport is a popup: its opener has given it a size.
func (b *Browser) adopt(ctx context.Context, c *Context, id target.ID, session target.SessionID, viewport *dom.Box) (*Page, error) {
	b.mu.Lock()
	if b.pages[id] != nil {
		b.mu.Unlock()
		return nil, errTakenIn
	}
	p := newPage(b, c, id, session, viewport)
	b.pages[id] = p
	b.mu.Unlock()
	c.front.Unknown() // a new tab mostly is there, but not always
	if err := p.install(ctx, p.main, emulate.Page); err != nil {
		p.end(nil)
		p.drain()
		return nil, err
	}
	return p, nil
}

// errTakenIn says that a target is a page already.
var errTakenIn = errors.New("the target is a page already")

func (b *Browser) forget(p *Page) {
	b.conn.Listen(p.main.ID, nil)
	b.mu.Lock()
	delete(b.pages, p.id)
	b.mu.Unlock()
	b.downloads.PageGone(p.id)
	p.context.left(p)
}

// failed names a call that failed; a lost browser is said as such.
func (b *Browser) failed(what string, err error) error {
	return b.orLost(fmt.Errorf("%s: %w", what, err))
}

// orLost is an error, or that the browser is lost if that is why.
func (b *Browser) orLost(err error) error {
	if errors.Is(err, devtools.ErrLost) || b.ctx.Err() != nil {
		return &apierr.Error{Kind: apierr.Lost, Message: "the browser is gone", Err: err}
	}
	return err
}

// loop works on what the browser says about its targets. When the connection ends it ends everything.
func (b *Browser) loop() {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	b.wg.Go(func() {
		select {
		case <-b.conn.Done():
		case <-b.ctx.Done():
		}
		cancel()
	})
	for {
		items, _, err := b.inbox.Take(ctx)
		if err != nil {
			break
		}
		for _, msg := range items {
			if err := b.handle(ctx, msg); err != nil {
				b.logger.Warn("an event of the browser was not understood", "method", string(msg.Method), "error", err)
			}
		}
	}
	b.mu.Lock()
	pages := make([]*Page, 0, len(b.pages))
	for _, p := range b.pages {
		pages = append(pages, p)
	}
	b.mu.Unlock()
	b.leave()
	close(b.done)
	for _, p := range pages {
		p.end(devtools.ErrLost)
	}
}

func (b *Browser) handle(ctx context.Context, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case cdpbrowser.DownloadWillBegin.Method:
		return on(msg, cdpbrowser.DownloadWillBegin, b.downloads.Begins)
	case cdpbrowser.DownloadProgress.Method:
		return on(msg, cdpbrowser.DownloadProgress, b.downloads.Moves)
	case target.TargetCreated.Method:
		return on(msg, target.TargetCreated, func(e target.EventTargetCreated) {
			b.downloads.TargetOpened(e.TargetInfo)
			b.created(ctx, e.TargetInfo)
		})
	case target.AttachedToTarget.Method:
		return on(msg, target.AttachedToTarget, func(e target.EventAttachedToTarget) { b.attached(ctx, e) })
	case target.TargetDestroyed.Method:
		return on(msg, target.TargetDestroyed, func(e target.EventTargetDestroyed) {
			b.downloads.TargetGone(e.TargetID)
			b.withPage(e.TargetID, (*Page).destroy)
		})
	case target.TargetCrashed.Method:
		return on(msg, target.TargetCrashed, func(e target.EventTargetCrashed) {
			b.withPage(e.TargetID, func(p *Page) { p.inbox.Push(inbound{crash: cmp.Or(e.Status, "crashed")}) })
		})
	case target.DetachedFromTarget.Method:
		return on(msg, target.DetachedFromTarget, func(e target.EventDetachedFromTarget) {
			b.withSession(e.SessionID, (*Page).destroy)
			if b.workers.Forget(e.SessionID) {
				b.conn.Listen(e.SessionID, nil)
			}
		})
	}
	return nil
}

func (b *Browser) withSession(id target.SessionID, f func(*Page)) {
	b.mu.Lock()
	var found *Page
	for _, p := range b.pages {
		if p.main.ID == id {
			found = p
		}
	}
	b.mu.Unlock()
	if found != nil {
		f(found)
	}
}

func (b *Browser) withPage(id target.ID, f func(*Page)) {
	b.mu.Lock()
	p := b.pages[id]
	b.mu.Unlock()
	if p != nil {
		f(p)
	}
}

// opener finds the page of ours that opened a target, or nil.
func (b *Browser) opener(info *target.Info) *Page {
	if info == nil || info.Type != "page" || info.OpenerID == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages[info.OpenerID]
}

// created takes in the pages that our pages open in a browser of somebody else.
func (b *Browser) created(ctx context.Context, info *target.Info) {
	opener := b.opener(info)
	if opener == nil || b.process.Owned() {
		return
	}
	b.takeIn(ctx, opener, info.TargetID, func(ctx context.Context) (target.SessionID, error) {
		attached, err := b.root.Attach(ctx, info.TargetID)
		return attached.ID, err
	})
}

// attached takes in the pages that our pages open in our own browser, which holds them until they are prepared, and
// lets all others go: those that NewPage opens get a session of their own. What is not held was attached to on
// request.
func (b *Browser) attached(ctx context.Context, e target.EventAttachedToTarget) {
	if !e.WaitingForDebugger {
		return
	}
	if opener := b.opener(e.TargetInfo); opener != nil {
		b.takeIn(ctx, opener, e.TargetInfo.TargetID, func(context.Context) (target.SessionID, error) { return e.SessionID, nil })
		return
	}
	if e.TargetInfo != nil && e.TargetInfo.Type != "page" && b.workerCame(ctx, e) {
		return
	}
	devtools.Session{Conn: b.conn, ID: e.SessionID}.Post(ctx, runtime.CommandRunIfWaitingForDebugger, struct{}{})
	if e.TargetInfo != nil && e.TargetInfo.Type != "page" {
		return // a worker that is let go of right after it was let run does not run
	}
	b.root.Post(ctx, target.CommandDetachFromTarget, target.DetachFromTargetParams{SessionID: e.SessionID})
}

// workerCame puts the overrides of its session in force in a worker, which waits for that; false when the worker is of no
// session of ours.
func (b *Browser) workerCame(ctx context.Context, e target.EventAttachedToTarget) bool {
	c := b.byBrowserContext(e.TargetInfo)
	if c == nil {
		return false
	}
	b.conn.Listen(e.SessionID, func(*cdproto.Message) {})
	b.workers.Start(ctx, devtools.Session{Conn: b.conn, ID: e.SessionID}, c.id, c.overrides)
	return true
}

// byBrowserContext finds the session that a target belongs to.
func (b *Browser) byBrowserContext(info *target.Info) *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.contexts {
		if c.id == info.BrowserContextID {
			return c
		}
	}
	return nil
}

// takeIn makes a page of a popup.
func (b *Browser) takeIn(ctx context.Context, opener *Page, id target.ID, attach func(context.Context) (target.SessionID, error)) {
	b.wg.Go(func() {
		defer opener.navigator.Change((*navigation.State).WindowOpened)
		actx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		session, err := attach(actx)
		var p *Page
		if err == nil {
			p, err = b.adopt(actx, opener.context, id, session, nil)
		}
		if errors.Is(err, errTakenIn) {
			return // the browser has told of it twice
		}
		if err != nil {
			b.logger.Warn("a popup could not be taken in: it is closed", "error", err)
			<-b.discard(id) // its opener waits for as long as it is held
			return
		}
		select {
		case b.delivery() <- driver.Popup{Page: p, Opener: string(opener.id), Session: opener.context.name, Bound: opener.navigator.WindowBound()}:
		case <-ctx.Done():
			p.end(devtools.ErrLost)
			p.drain() // nobody else reads it
		}
	})
}

// closeTimeout bounds what is done for a browser that does not answer.
const closeTimeout = 5 * time.Second

// Close ends the browser that Start started, or lets go of a remote one, and returns when nothing of
// it is left. When ctx ends first the browser is killed.
func (b *Browser) Close(ctx context.Context) error {
	if b.process.Owned() {
		bounded, cancel := context.WithTimeout(ctx, closeTimeout)
		_ = b.root.Run(bounded, devtools.Step{Method: cdpbrowser.CommandClose})
		select {
		case <-b.conn.Done():
		case <-bounded.Done():
		}
		cancel()
	} else {
		b.closePages(ctx)
	}
	b.cancel(errClosed)
	b.wg.Wait()
	close(b.popups)
	return errors.Join(b.downloads.Close(), b.process.Close())
}

// closePages closes what we opened in a browser that lives on.
func (b *Browser) closePages(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	b.mu.Lock()
	ids := make([]target.ID, 0, len(b.pages))
	for id := range b.pages {
		ids = append(ids, id)
	}
	b.mu.Unlock()
	for _, id := range ids {
		_, _ = cdp.Call(ctx, b.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
	}
}
