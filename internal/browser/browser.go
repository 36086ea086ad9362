// Package browser drives Chromium for the actor: it starts a browser or attaches to one, opens pages, installs the observer in their
// documents, navigates, and sends input. Only this package and the packages below it import chromedp and cdproto.
//
// chromedp starts and ends the browser and frames its messages. Our sessions share its connection (package devtools), so that an evaluation
// takes one round trip and waits for no listener.
//
// A Browser consists of a connection, a registry of pages and contexts, and parts for downloads, the clipboard, emulated workers, popups,
// and warm sessions. Each Page has one goroutine, its loop, which turns the browser's events into driver.Events in order: handle in
// events.go routes each event to a part. The parts of a page (frames, documents, dialogs, requests, navigation, capture, input) are plain
// values guarded by one monitor, in packages that do not import this one. Calls run on the caller's goroutine and end with the caller's
// context.
//
// Callers must read every Page's Events until the channel is closed, and call Close once. Close returns when the browser process, its
// children and its temporary profile are gone.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/downloads"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/targets"
	"github.com/domtap/domtap/internal/browser/warm"
	"github.com/domtap/domtap/internal/browser/windows"
	"github.com/domtap/domtap/internal/sessions"
)

// Browser is a running Chromium.
type Browser struct {
	connection
	*registry
	popupAdopter
	urlPolicy

	script string
	// elements limits how many elements of each document are stored. Zero selects the default.
	elements int
	// mask, block and allowFile come from Config and apply to all sessions.
	mask      sessions.Mask
	block     []string
	allowFile func(url string) error

	// warm holds sessions that are prepared before they are requested.
	warm *warm.Pool[*Context]
	// base is the context of the default session.
	base *Context

	ctx    context.Context
	cancel context.CancelCauseFunc
	inbox  *devtools.Queue[*cdproto.Message]
	popups chan driver.Popup
	wg     sync.WaitGroup
	done   chan struct{}

	// secondary is set if the default session of this browser is unused.
	secondary bool
	// downloadDir is where files are kept after the browser has ended. If empty, they are not kept.
	downloadDir      string
	maxDownloadBytes int64
	downloads        *downloads.Tracker
	clipboard        *clipboard.Clipboard
	// workers holds the shared and service workers, which belong to no single page.
	workers *emulate.Workers
	held    *requestGate
}

// Config selects and configures the browser.
type Config = launch.Config

// Find returns the path of the browser to use: path if it is set and executable, else the first installed browser. If headless is set,
// headless shells come before full browsers.
func Find(path string, headless bool) (string, error) { return launch.Find(path, headless) }

// IsShell reports whether a path names a headless shell.
func IsShell(path string) bool { return launch.IsShell(path) }

// RemoteName returns the address of a remote browser without parts that may be secret.
func RemoteName(address string) string { return launch.RemoteName(address) }

// SearchedRemote reports whether a Config.Remote asks to find a running browser of this machine, and returns which one, for
// discovery.Finder.Choose.
func SearchedRemote(address string) (choice string, ok bool) { return launch.SearchedRemote(address) }

// Missing is the error for a browser that cannot be used.
type Missing = launch.Missing

// ErrNoSandbox reports that the browser exited because the machine does not support its sandbox.
var ErrNoSandbox = launch.ErrNoSandbox

// SandboxNote returns why Chromium's own sandbox is off, or an empty string if it is on.
func SandboxNote() string { return launch.SandboxNote() }

// Start starts a browser, or attaches to the one that cfg.Remote names. ctx bounds only the start; the browser lives until Close.
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
	if err == nil && b.gate != nil {
		err = b.verifyProxy(ctx, b.gate)
	}
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("preparing the browser: %w", err), b.Close(closing))
	}
	return b, nil
}

// newBrowser returns a browser without a process. Its lifetime is independent of ctx.
func newBrowser(ctx context.Context, cfg Config) *Browser {
	b := &Browser{
		registry: newRegistry(), urlPolicy: urlPolicy{cfg.Gate}, mask: cfg.Mask, block: cfg.Block, allowFile: cfg.AllowFile, script: masking(observer.Limits{Elements: cfg.PageElements}, cfg.Mask), elements: cfg.PageElements,
		inbox: devtools.NewQueue[*cdproto.Message](), popups: make(chan driver.Popup, 64), done: make(chan struct{}),
		secondary: cfg.Secondary, downloadDir: cfg.DownloadDir, maxDownloadBytes: cfg.MaxDownloadBytes,
		workers: emulate.NewWorkers(),
	}
	b.ctx, b.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	b.connection = connection{logger: cfg.Logger, life: b.ctx}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	b.popupAdopter = popupAdopter{browser: b, deliver: b.popups}
	b.warm = warm.New(warm.Config[*Context]{Life: b.ctx, Tasks: &b.wg, Make: b.makeReady,
		OnFailure: func(err error) { b.logger.Debug("preparing a session failed", "error", err) }})
	return b
}

// attach creates the parts that communicate with the browser's process, and starts to listen to it.
func (b *Browser) attach(process *launch.Browser) {
	b.process, b.conn = process, process.Conn
	b.version, b.mac = process.VersionInfo.Product, strings.Contains(process.VersionInfo.UserAgent, "Macintosh")
	b.root = devtools.Session{Conn: b.conn}
	b.targets = targets.New(b.ctx, b.root, targets.Browser{Owned: process.Owned(), Shell: process.IsShell()}, b.logger)
	b.windows = windows.New(b.ctx, b.root, b.logger)
	root := ""
	if process.Owned() {
		root = cmp.Or(b.downloadDir, filepath.Join(process.Dir(), "downloads"))
	}
	b.downloads = downloads.New(b.ctx, b.root, downloads.Config{
		Root: root, Keep: b.downloadDir != "", MaxBytes: b.maxDownloadBytes, Pages: b.downloaders, Logger: b.logger,
	})
	b.held = &requestGate{life: b.ctx, conn: b.conn, logger: b.logger, workers: b.workers, allowed: b.allows(), inbox: devtools.NewQueue[*cdproto.Message]()}
	b.clipboard = clipboard.New(b.root, b.logger, process.Owned(), b.shared)
	b.base = b.newContext("")
	b.base.name = driver.DefaultSession
	b.addContext(b.base)
	b.wg.Go(b.loop)
	b.wg.Go(b.held.run)
}

// prepare subscribes to the browser's targets and sets defaults for downloads and permissions.
func (b *Browser) prepare(ctx context.Context) error {
	_, err := cdp.Call(ctx, b.root, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{
		Discover: true, Filter: target.Filter{{Type: "page"}}})
	if err == nil && !b.secondary {
		err = b.base.download(ctx, false)
	}
	if err != nil || !b.process.Owned() {
		return err
	}
	// A browser that we started holds every new page until it is prepared. A remote browser does not, because it may have other users.
	yes := true
	_, err = cdp.Call(ctx, b.root, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true,
		Flatten: &yes, Filter: target.Filter{{Type: "page"}, {Type: "service_worker"}, {Type: "shared_worker"}}})
	if err == nil {
		err = b.base.permit(ctx, sessions.Settings{})
	}
	return err
}

// Done returns a channel that is closed when the browser is gone, whether it was closed or crashed.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Pages implements driver.Browser.
func (b *Browser) Pages() <-chan driver.Popup { return b.popups }

// Ready implements driver.Browser. A single browser is never restarted.
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
	if o.TakeOver != "" {
		p, err := b.takeOver(ctx, c, o)
		if err != nil {
			return nil, err // the interface must not hold a nil pointer
		}
		return p, nil
	}
	if ctx.Err() != nil { // do not hand the ready page to a caller that has given up
		return nil, context.Cause(ctx)
	}
	if p := c.takeReady(); p != nil {
		if err = p.emulated.Resize(ctx, p.main, o.Viewport); err == nil {
			return p, nil
		}
		p.end(nil) // the page is gone, or ctx has ended
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
	id, err := b.targets.Open(ctx, c.id)
	if err != nil {
		return nil, err
	}
	attached, err := b.root.Attach(ctx, id)
	var p *Page
	if err == nil {
		p, err = b.add(ctx, newPageConfig{context: c, id: id, session: attached.ID, viewport: &viewport})
	}
	if err != nil {
		return nil, targets.NotCreated(ctx, err, b.targets.Discard(id))
	}
	return p, nil
}

// add installs the observer in an attached target and applies its session's overrides.
func (b *Browser) add(ctx context.Context, o newPageConfig) (*Page, error) {
	p, added := b.addPage(o.id, func() *Page { return newPage(b, o) })
	if !added {
		return nil, errAlreadyPage
	}
	o.context.front.Reset() // a new tab is usually in front, but not always
	if o.documents != nil {
		p.inbox.Push(inbound{documents: o.documents})
	}
	if err := p.install(ctx, p.main, emulate.Page); err != nil {
		p.end(nil)
		p.drain()
		return nil, err
	}
	return p, nil
}

// errAlreadyPage reports that a target is already a page.
var errAlreadyPage = errors.New("the target is a page already")

func (b *Browser) forget(p *Page) {
	b.conn.Listen(p.main.ID, nil)
	b.removePage(p)
	b.downloads.PageGone(p.id)
	p.context.left(p)
}

// loop handles the browser's events about its targets. When the connection ends, loop ends all pages.
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
				b.logger.Warn("an event from the browser could not be decoded", "method", string(msg.Method), "error", err)
			}
		}
	}
	if !b.process.Owned() {
		b.abandonTabs()
	}
	for _, p := range b.allPages() {
		p.end(devtools.ErrLost)
	}
	close(b.done) // a caller that waits for done may call Close, which ends the remaining pages as closed on purpose
}

func (b *Browser) handle(ctx context.Context, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case cdpbrowser.DownloadWillBegin.Method:
		return devtools.On(msg, cdpbrowser.DownloadWillBegin, b.downloads.Begins)
	case cdpbrowser.DownloadProgress.Method:
		return devtools.On(msg, cdpbrowser.DownloadProgress, b.downloads.Moves)
	case target.TargetCreated.Method:
		return devtools.On(msg, target.TargetCreated, func(e target.EventTargetCreated) {
			b.downloads.TargetOpened(e.TargetInfo)
			b.created(ctx, e.TargetInfo)
		})
	case target.AttachedToTarget.Method:
		return devtools.On(msg, target.AttachedToTarget, func(e target.EventAttachedToTarget) { b.attached(ctx, e) })
	case target.TargetDestroyed.Method:
		return devtools.On(msg, target.TargetDestroyed, func(e target.EventTargetDestroyed) {
			b.downloads.TargetGone(e.TargetID)
			if p := b.page(e.TargetID); p != nil {
				p.destroy()
			}
		})
	case target.TargetCrashed.Method:
		return devtools.On(msg, target.TargetCrashed, func(e target.EventTargetCrashed) {
			if p := b.page(e.TargetID); p != nil {
				p.inbox.Push(inbound{crash: cmp.Or(e.Status, "crashed")})
			}
		})
	case target.DetachedFromTarget.Method:
		return devtools.On(msg, target.DetachedFromTarget, func(e target.EventDetachedFromTarget) {
			for _, p := range b.pagesThat(func(p *Page) bool { return p.main.ID == e.SessionID }) {
				p.destroy()
			}
			if b.workers.Forget(e.SessionID) {
				b.conn.Listen(e.SessionID, nil)
			}
		})
	}
	return nil
}

// closeTimeout bounds how long Close waits for a browser that does not respond.
const closeTimeout = 5 * time.Second

// Close ends a browser that Start started, or detaches from a remote one, and returns when all its resources are released. If ctx ends
// first, the browser is killed.
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

// closePages closes our pages in a browser that continues to run. It hands back those that were taken over.
func (b *Browser) closePages(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	for _, p := range b.allPages() {
		if p.takenOver {
			p.handBack(ctx)
			continue // it is detached from when it ends
		}
		_, _ = cdp.Call(ctx, b.root, target.CloseTarget, target.CloseTargetParams{TargetID: p.id})
	}
}
