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
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/launch"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

// Browser is a running Chromium.
type Browser struct {
	conn    *link.Conn
	root    link.Session
	process *launch.Browser
	logger  *slog.Logger
	script  string
	version string
	mac     bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	inbox  *link.Queue[*cdproto.Message]
	popups chan actor.Popup
	wg     sync.WaitGroup
	done   chan struct{}

	// downloadDir is where files are kept beyond the browser's end; empty: nowhere.
	downloadDir string
	fetches     downloads

	mu    sync.Mutex
	pages map[target.ID]*Page
}

// Config says which browser to use.
type Config = launch.Config

// Find returns the path of the browser to use: path when it is set and can be executed, else the
// first one installed.
func Find(path string) (string, error) { return launch.Find(path) }

// SandboxNote says why Chromium's own sandbox is off, or nothing when it is on.
func SandboxNote() string { return launch.SandboxNote() }

// Start starts a browser, or attaches to the one that cfg.Remote names. ctx bounds the start only;
// the browser lives until Close.
func Start(ctx context.Context, cfg Config) (*Browser, error) {
	b := &Browser{
		logger: cfg.Logger, script: page.Script(), inbox: link.NewQueue[*cdproto.Message](),
		popups: make(chan actor.Popup, 64), done: make(chan struct{}), pages: map[target.ID]*Page{},
		downloadDir: cfg.DownloadDir, fetches: newDownloads(cfg.MaxDownloadBytes),
	}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	if note := SandboxNote(); note != "" && cfg.Remote == "" {
		b.logger.Warn(note)
	}
	b.ctx, b.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { b.cancel(context.Cause(ctx)) })
	defer stop()
	var err error
	if b.process, err = launch.Start(b.ctx, cfg, b.inbox.Push); err != nil {
		b.cancel(err)
		return nil, err
	}
	b.conn = b.process.Conn
	b.root = link.Session{Conn: b.conn}
	b.wg.Go(b.loop)
	if err := b.prepare(ctx); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("preparing the browser: %w", err), b.Close(closing))
	}
	return b, nil
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
	if err == nil {
		_, err = b.downloads(ctx, "", "default", false)
	}
	return err
}

// Version is what the browser calls itself, such as "Chrome/156.0.8078.79".
func (b *Browser) Version() string { return b.version }

// Sent counts the commands that the browser was sent, chromedp's own aside.
func (b *Browser) Sent() uint64 { return b.conn.Sent() }

// Received counts the bytes that the browser has sent; 0 for one that is attached by a websocket.
func (b *Browser) Received() uint64 { return b.conn.Received() }

// Done is closed when the browser is gone, whether asked to or not.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Pages implements actor.Browser.
func (b *Browser) Pages() <-chan actor.Popup { return b.popups }

// NewPage implements actor.Browser.
func (b *Browser) NewPage(ctx context.Context, viewport dom.Box) (actor.Page, error) {
	res, err := cdp.Call(ctx, b.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	var cerr *cdproto.Error
	if errors.As(err, &cerr) { // no window to put the tab in, as in a remote browser without one
		window := true
		res, err = cdp.Call(ctx, b.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", NewWindow: &window})
	}
	if err != nil {
		return nil, b.failed("opening a page", err)
	}
	p, err := b.adopt(ctx, res.TargetID, viewport)
	if err != nil {
		b.discard(ctx, res.TargetID)
		return nil, b.failed("opening a page", err)
	}
	return p, nil
}

// discard closes a target that never became a page.
func (b *Browser) discard(ctx context.Context, id target.ID) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_, _ = cdp.Call(closing, b.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
}

// adopt attaches to a target and installs the observer.
func (b *Browser) adopt(ctx context.Context, id target.ID, viewport dom.Box) (*Page, error) {
	flat := true
	res, err := cdp.Call(ctx, b.root, target.AttachToTarget, target.AttachToTargetParams{TargetID: id, Flatten: &flat})
	if err != nil {
		return nil, err
	}
	p := newPage(b, id, res.SessionID)
	b.mu.Lock()
	b.pages[id] = p
	b.mu.Unlock()
	if err := p.install(ctx, p.main); err != nil {
		p.end(nil)
		for range p.events { // until the page has ended
		}
		return nil, err
	}
	if viewport.Width > 0 && viewport.Height > 0 {
		_, err = cdp.Call(ctx, p.main, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(viewport.Width), Height: int64(viewport.Height)})
	}
	return p, err
}

func (b *Browser) forget(p *Page) {
	b.conn.Listen(p.main.ID, nil)
	b.mu.Lock()
	delete(b.pages, p.id)
	b.mu.Unlock()
	b.cancelDownloads("its tab was closed", func(f *fetch) bool { return f.page == p })
}

// failed names a call that failed; a lost browser is said as such.
func (b *Browser) failed(what string, err error) error {
	if errors.Is(err, link.ErrLost) || b.ctx.Err() != nil {
		return &actor.Error{Kind: actor.Lost, Message: "the browser is gone", Err: err}
	}
	return fmt.Errorf("%s: %w", what, err)
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
	for _, p := range pages {
		p.end(link.ErrLost)
	}
	close(b.done)
}

func (b *Browser) handle(ctx context.Context, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case cdpbrowser.DownloadWillBegin.Method:
		return on(msg, cdpbrowser.DownloadWillBegin, b.downloadBegins)
	case cdpbrowser.DownloadProgress.Method:
		return on(msg, cdpbrowser.DownloadProgress, b.downloadMoves)
	case target.TargetCreated.Method:
		return on(msg, target.TargetCreated, func(e target.EventTargetCreated) {
			b.openedBy(e.TargetInfo)
			b.created(ctx, e.TargetInfo)
		})
	case target.TargetDestroyed.Method:
		return on(msg, target.TargetDestroyed, func(e target.EventTargetDestroyed) {
			b.fetches.mu.Lock()
			delete(b.fetches.openers, e.TargetID)
			b.fetches.mu.Unlock()
			b.withPage(e.TargetID, func(p *Page) { p.end(nil) })
		})
	case target.TargetCrashed.Method:
		return on(msg, target.TargetCrashed, func(e target.EventTargetCrashed) {
			b.withPage(e.TargetID, func(p *Page) { p.crashed(e.Status) })
		})
	case target.DetachedFromTarget.Method:
		return on(msg, target.DetachedFromTarget, func(e target.EventDetachedFromTarget) {
			b.withSession(e.SessionID, func(p *Page) { p.end(nil) })
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

// created takes in the pages that our pages open.
func (b *Browser) created(ctx context.Context, info *target.Info) {
	if info == nil || info.Type != "page" || info.OpenerID == "" {
		return
	}
	b.mu.Lock()
	opener := b.pages[info.OpenerID]
	b.mu.Unlock()
	if opener == nil {
		return
	}
	b.wg.Go(func() {
		defer opener.opened(-1)
		actx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		p, err := b.adopt(actx, info.TargetID, dom.Box{})
		if err != nil {
			b.logger.Warn("a popup could not be taken in", "error", err)
			return
		}
		select {
		case b.popups <- actor.Popup{Page: p, Opener: string(info.OpenerID)}:
		case <-ctx.Done():
			p.end(link.ErrLost)
			for range p.events { // nobody else reads it
			}
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
		_ = b.root.Run(bounded, link.Step{Method: cdpbrowser.CommandClose})
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
	return errors.Join(b.closeDownloads(), b.process.Close())
}

// closePages closes what we opened in a browser that lives on.
func (b *Browser) closePages(ctx context.Context) {
	b.mu.Lock()
	ids := make([]target.ID, 0, len(b.pages))
	for id := range b.pages {
		ids = append(ids, id)
	}
	b.mu.Unlock()
	for _, id := range ids {
		b.discard(ctx, id)
	}
}
