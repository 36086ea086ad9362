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

// Context represents one session in the browser.
type Context struct {
	browser *Browser
	name    string
	// mask applies in addition to the browser's mask. It is set before the first page opens.
	mask sessions.Mask
	// source is the script that runs in every document. If empty, the browser's script runs.
	source string
	// id is empty for the default session.
	id cdp.BrowserContextID

	// front tracks which of the session's tabs is in front.
	front capture.Front

	// clipboard isolates the session's clipboard.
	clipboard *clipboard.Session

	// permissions holds the permissions that are granted to or denied the session's pages without a prompt.
	permissions *permissions.Permissions

	// store accesses the cookies and storage of the session's pages.
	store *storagestate.Store

	mu sync.Mutex
	// emulated holds the overrides of the session's pages.
	emulated emulate.Overrides
	// ready is a blank page that is kept for the next NewPage, or nil.
	ready *Page
	// downloadDir is where downloads go. If empty, the browser chooses.
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
	if s.Mask.IsZero() && s.Proxy == nil { // a warm page lacks the mask, and a warm context lacks the proxy
		c, _ = b.warm.Take()
	}
	if c == nil {
		if c, err = b.makeContext(ctx, s.Proxy); err != nil {
			return nil, b.failed("creating a session", err)
		}
	}
	c.name, c.mask = name, s.Mask
	if !s.Mask.IsZero() {
		c.source = masking(observer.Limits{Elements: b.elements}, c.masks())
	}
	if err = c.Configure(ctx, s); err != nil {
		return nil, targets.NotCreated(ctx, err, c.dispose())
	}
	if !b.addContext(c) {
		return nil, targets.NotCreated(ctx, apierr.Errorf(apierr.Exists, "session %q exists already", name), c.dispose())
	}
	return c, nil
}

// masks returns the masks that apply to the context's pages.
func (c *Context) masks() sessions.Mask { return c.browser.mask.With(c.mask) }

// script returns the script that runs in every document of the context's pages.
func (c *Context) script() string {
	if c.source != "" {
		return c.source
	}
	return c.browser.script
}

// masking returns the observer's script with the given mask.
func masking(limits observer.Limits, m sessions.Mask) string {
	if m.IsZero() {
		return limits.Script()
	}
	return limits.Masked(&observer.Masks{Selectors: m.Selectors, Values: m.Values})
}

// newContext returns the Context for a browser context.
func (b *Browser) newContext(id cdp.BrowserContextID) *Context {
	c := &Context{browser: b, id: id, clipboard: b.clipboard.Session(id), store: storagestate.NewStore(b.root, id)}
	c.emulated = c.wanted(sessions.Settings{})
	c.permissions = permissions.New(b.root, c.clipboard, id, b.process.IsShell())
	return c
}

// makeContext creates a context without a name, which connects through proxy. If proxy is nil, it connects as the browser does. The browser
// context ends with our connection at the latest.
func (b *Browser) makeContext(ctx context.Context, proxy *sessions.Proxy) (*Context, error) {
	server, bypass := "", ""
	if proxy != nil { // browsers bypass a proxy for loopback addresses by default
		server, bypass = proxy.Server, strings.Join(append([]string{"<-loopback>"}, proxy.Bypass...), ";")
	}
	id, removed, err := b.root.CreateContext(ctx, server, bypass)
	if err != nil {
		return nil, targets.NotCreated(ctx, err, removed)
	}
	return b.newContext(id), nil
}

// dispose removes an unused context in the background. It closes the returned channel when it is done.
func (c *Context) dispose() <-chan struct{} {
	removed := make(chan struct{})
	c.browser.conn.Go(func() {
		defer close(removed)
		if err := c.remove(context.WithoutCancel(c.browser.ctx), false); err != nil {
			c.browser.logger.Warn("a session could not be closed", "error", err)
		}
	})
	return removed
}

// Close implements sessions.Context. If ctx ends first, the removal continues in the background.
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

// remove disposes of the context with its pages. Unless keep is set, it also deletes the files that they downloaded.
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

// overrides returns what the session's pages emulate.
func (c *Context) overrides() emulate.Overrides {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emulated
}

// acts marks the session as being acted on until done is called.
func (c *Context) acts(ctx context.Context) (done func(), err error) {
	done, err = c.clipboard.Act(ctx)
	if err != nil {
		return nil, c.browser.orLost(err)
	}
	return done, nil
}

// configureBound limits how long Configure waits for a page to apply new overrides. A hanging page applies them when it responds again.
const configureBound = 2 * time.Second

// Configure implements sessions.Context.
func (c *Context) Configure(ctx context.Context, s sessions.Settings) error {
	if err := c.permit(ctx, s); err != nil {
		return c.browser.failed("setting permissions", err)
	}
	if err := c.download(ctx, s.DenyDownloads); err != nil {
		return c.browser.failed("setting the download behavior", err)
	}
	wanted := c.wanted(s)
	c.mu.Lock()
	was := c.emulated
	c.emulated = wanted
	c.mu.Unlock()
	return c.emulate(ctx, was)
}

// wanted returns the emulation and the request routing that the settings request.
func (c *Context) wanted(s sessions.Settings) emulate.Overrides {
	version := c.browser.version[strings.LastIndexByte(c.browser.version, '/')+1:]
	return emulate.New(s, version, routes.NewTable(s.Routes, slices.Concat(c.browser.block, s.Block)).WithFiles(c.browser.allowFile))
}

// emulate applies the session's overrides to all its pages and workers. It first clears the overrides that are shared by a process in all
// pages, because a page cannot change an override that another page has set.
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
			return fmt.Errorf("the browser refused the emulation settings of a tab: %w", err)
		}
	}
	return nil
}

// pages lists the session's pages.
func (c *Context) pages() []*Page {
	return c.browser.pagesThat(func(p *Page) bool { return p.context == c })
}

// left restores overrides that ended with a page. An override that is shared by a process is lost with the page that set it, even if a
// popup in the same process lives on.
func (c *Context) left(*Page) {
	c.front.Reset()
	o := c.overrides()
	if !o.SharesProcess() {
		return
	}
	for _, p := range c.pages() {
		p.emulated.Post(c.browser.ctx, o.Shared())
	}
}

// permit grants and denies the permissions that pages would otherwise prompt for.
func (c *Context) permit(ctx context.Context, s sessions.Settings) error {
	granted, denied := s.Decide()
	return c.permissions.Set(ctx, granted, denied)
}

// download allows or denies downloads for the session's pages.
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

// Changes implements sessions.ChangeCounter.
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
	if err := do(contextStorage{c.store, c}); err != nil {
		return c.browser.orLost(err)
	}
	return nil
}

// contextStorage implements sessions.Storage.
type contextStorage struct {
	*storagestate.Store
	of *Context
}

// Masked implements sessions.Storage.
func (s contextStorage) Masked() bool { return !s.of.masks().IsZero() }
