package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/permissions"
	"github.com/domtap/domtap/internal/browser/storagestate"
	"github.com/domtap/domtap/internal/browser/targets"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/sessions"
)

// Context is the browser's side of one session.
type Context struct {
	browser *Browser
	name    string
	// mask is the session's, beside the browser's; it is set before the first page.
	mask sessions.Mask
	// source is what runs in every document, if it is not the browser's.
	source string
	// id is empty for the default session.
	id cdp.BrowserContextID

	// front is the place that the session's tabs take turns in.
	front capture.Front

	// clipboard is what the session does with the clipboard.
	clipboard *clipboard.Session

	// permissions are what the session's pages may do without asking.
	permissions *permissions.Permissions

	// store is what the session's pages have stored.
	store *storagestate.Store

	mu sync.Mutex
	// emulated is what the session's pages emulate.
	emulated emulate.Overrides
	// ready is a blank page that waits to be opened, or nil.
	ready *Page
	// downloadDir is where downloads go; empty: where the browser says.
	downloadDir string
}

// DefaultContext implements sessions.Browser.
func (b *Browser) DefaultContext() sessions.Context { return b.base }

// NewContext implements sessions.Browser.
func (b *Browser) NewContext(ctx context.Context, name string, s sessions.Settings) (sessions.Context, error) {
	var c *Context
	var err error
	if err = b.allowProxy(s.Proxy); err != nil {
		return nil, err
	}
	if s.Mask.IsZero() && s.Proxy == nil { // the page of one that is ready does not know the mask, nor its context the proxy
		c, _ = b.warm.Take()
	}
	if c == nil {
		if c, err = b.makeContext(ctx, s.Proxy); err != nil {
			return nil, b.failed("making a session", err)
		}
	}
	c.name, c.mask = name, s.Mask
	if !s.Mask.IsZero() {
		c.source = masking(observer.Limits{Elements: b.elements}, c.masks())
	}
	if err = c.Configure(ctx, s); err != nil {
		return nil, targets.Unfinished(ctx, err, c.dispose())
	}
	if !b.addContext(c) {
		return nil, targets.Unfinished(ctx, apierr.Errorf(apierr.Exists, "there is a session %q already", name), c.dispose())
	}
	return c, nil
}

// masks are what is masked in the context's pages.
func (c *Context) masks() sessions.Mask { return c.browser.mask.With(c.mask) }

// script is what runs in every document of the context's pages.
func (c *Context) script() string {
	if c.source != "" {
		return c.source
	}
	return c.browser.script
}

// masking is the source to run where a mask is in force.
func masking(limits observer.Limits, m sessions.Mask) string {
	if m.IsZero() {
		return limits.Script()
	}
	return limits.Masked(&observer.Masks{Selectors: m.Selectors, Values: m.Values})
}

// newContext is the side of the session that a browser context is for.
func (b *Browser) newContext(id cdp.BrowserContextID) *Context {
	c := &Context{browser: b, id: id, clipboard: b.clipboard.Session(id), store: storagestate.NewStore(b.root, id)}
	c.emulated = c.wanted(sessions.Settings{})
	c.permissions = permissions.New(b.root, c.clipboard, id, b.process.IsShell())
	return c
}

// makeContext makes a context without a name, which connects through a proxy; nil: as the browser does. It ends with our connection at the latest.
func (b *Browser) makeContext(ctx context.Context, proxy *sessions.Proxy) (*Context, error) {
	server, bypass := "", ""
	if proxy != nil { // browsers bypass it for loopback unless they are told not to
		server, bypass = proxy.Server, strings.Join(append([]string{"<-loopback>"}, proxy.Bypass...), ";")
	}
	id, removed, err := b.root.CreateContext(ctx, server, bypass)
	if err != nil {
		return nil, targets.Unfinished(ctx, err, removed)
	}
	return b.newContext(id), nil
}

// dispose removes a context that nobody uses. It goes on whoever waits for the returned channel, which is closed then.
func (c *Context) dispose() <-chan struct{} {
	removed := make(chan struct{})
	c.browser.conn.Go(func() {
		defer close(removed)
		if err := c.remove(context.WithoutCancel(c.browser.ctx), false); err != nil {
			c.browser.logger.Warn("a session could not be ended", "error", err)
		}
	})
	return removed
}

// Close implements sessions.Context. When ctx ends first it goes on without its caller.
func (c *Context) Close(ctx context.Context, keep bool) error {
	if c.id == "" {
		return errors.New("the default session cannot be closed")
	}
	removed := make(chan error, 1)
	c.browser.conn.Go(func() { removed <- c.remove(context.WithoutCancel(ctx), keep) })
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return c.browser.failed("ending a session", context.Cause(ctx))
	}
}

// remove disposes of the context, with its pages, and of what its pages downloaded.
func (c *Context) remove(ctx context.Context, keep bool) error {
	b := c.browser
	b.removeContext(c)
	if p := c.takeReady(); p != nil {
		defer p.drain()
		defer p.end(nil)
	}
	if err := b.root.DisposeContext(ctx, c.id); err != nil {
		return b.failed("ending a session", err)
	}
	c.clipboard.Close(ctx)
	return b.downloads.End(c.id, keep)
}

// overrides is what the session's pages emulate.
func (c *Context) overrides() emulate.Overrides {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emulated
}

// acts notes that the session is acted on, until done is called.
func (c *Context) acts(ctx context.Context) (done func(), err error) {
	done, err = c.clipboard.Act(ctx)
	if err != nil {
		return nil, c.browser.orLost(err)
	}
	return done, nil
}

// configureBound is how long a page may take to put other overrides in force; one that hangs does so when it answers.
const configureBound = 2 * time.Second

// Configure implements sessions.Context.
func (c *Context) Configure(ctx context.Context, s sessions.Settings) error {
	if err := c.permit(ctx, s); err != nil {
		return c.browser.failed("setting permissions", err)
	}
	if err := c.download(ctx, s.DenyDownloads); err != nil {
		return c.browser.failed("setting what downloads do", err)
	}
	wanted := c.wanted(s)
	c.mu.Lock()
	was := c.emulated
	c.emulated = wanted
	c.mu.Unlock()
	return c.emulate(ctx, was)
}

// wanted is what settings ask the session's pages to emulate, and what becomes of their requests.
func (c *Context) wanted(s sessions.Settings) emulate.Overrides {
	version := c.browser.version[strings.LastIndexByte(c.browser.version, '/')+1:]
	return emulate.New(s, version, routes.NewTable(s.Routes, slices.Concat(c.browser.block, s.Block)).WithFiles(c.browser.allowFile))
}

// emulate puts the session's overrides in force in all its pages and workers. What a process has but once is lifted from all
// first: a page cannot change what another one set.
func (c *Context) emulate(ctx context.Context, was emulate.Overrides) error {
	bounded, cancel := context.WithTimeout(ctx, configureBound)
	defer cancel()
	pages := c.pages()
	for _, p := range pages {
		p.emulated.Post(bounded, was.Clear())
	}
	errs := make([]error, len(pages))
	var wg sync.WaitGroup
	for i, p := range pages {
		wg.Go(func() { errs[i] = p.emulated.UpdateAll(bounded) })
	}
	wg.Wait()
	c.browser.workers.Update(bounded, c.id)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range errs {
		if _, ok := errors.AsType[*cdproto.Error](err); ok && !frames.IsGoneContext(err) {
			return fmt.Errorf("the browser refuses what a tab is to pretend: %w", err)
		}
	}
	return nil
}

// pages lists the session's pages.
func (c *Context) pages() []*Page {
	return c.browser.pagesThat(func(p *Page) bool { return p.context == c })
}

// left restores what ended with a page: what a process has but once goes with the page that asked for it, also when
// a popup of the same process lives on.
func (c *Context) left(*Page) {
	c.front.Unknown()
	o := c.overrides()
	if !o.SharesProcess() {
		return
	}
	for _, p := range c.pages() {
		p.emulated.Post(c.browser.ctx, o.Shared())
	}
}

// permit grants and denies what pages would ask a person for.
func (c *Context) permit(ctx context.Context, s sessions.Settings) error {
	granted, denied := s.Decide()
	return c.permissions.Set(ctx, granted, denied)
}

// download lets the session's pages download, or not.
func (c *Context) download(ctx context.Context, deny bool) error {
	dir, err := c.browser.downloads.Allow(ctx, c.id, c.name, deny)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.downloadDir = dir
	return nil
}

// Downloads implements sessions.Context.
func (c *Context) Downloads() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.downloadDir
}

// Changes implements sessions.Changing.
func (c *Context) Changes() uint64 { return c.store.Changes() }

// State implements sessions.Context.
func (c *Context) State(ctx context.Context, o sessions.StateOptions) (sessions.State, error) {
	state, err := c.store.Read(ctx, o)
	if err != nil {
		return sessions.State{}, c.browser.failed("reading a session", err)
	}
	return state, nil
}

// SetState implements sessions.Context.
func (c *Context) SetState(ctx context.Context, state sessions.State, replace bool) error {
	if err := c.store.Write(ctx, state, replace); err != nil {
		return c.browser.orLost(err)
	}
	return nil
}

// Stored implements sessions.Context.
func (c *Context) Stored(_ context.Context, do func(sessions.Storage) error) error {
	if err := do(stored{c.store, c}); err != nil {
		return c.browser.orLost(err)
	}
	return nil
}

// stored implements sessions.Storage.
type stored struct {
	*storagestate.Store
	of *Context
}

// Masked implements sessions.Storage.
func (s stored) Masked() bool { return !s.of.masks().IsZero() }
