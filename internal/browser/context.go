package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/storagestate"
	"github.com/domtap/domtap/internal/sessions"
)

// maxOrigins bounds the origins whose local storage is remembered for State.
const maxOrigins = 500

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

	// stirs counts what may have changed the cookies: documents and requests.
	stirs atomic.Uint64

	mu sync.Mutex
	// emulated is what the session's pages emulate.
	emulated emulate.Overrides
	// ready is a blank page that waits to be opened, or nil.
	ready *Page
	// origins are those of the documents that tabs showed, each once, the newest last.
	origins []string
	// granted and denied are the permissions that were set.
	granted, denied []string
	// downloadDir is where downloads go; empty: where the browser says.
	downloadDir string
}

// context finds a session's side by its name; empty: the default one's.
func (b *Browser) context(name string) (*Context, error) {
	if name == "" {
		name = driver.DefaultSession
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.contexts[name]; c != nil {
		return c, nil
	}
	return nil, apierr.Unknown("session", "there is no session %q: list the sessions, or create it", name)
}

// DefaultContext implements sessions.Browser.
func (b *Browser) DefaultContext() sessions.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts[driver.DefaultSession]
}

// NewContext implements sessions.Browser.
func (b *Browser) NewContext(ctx context.Context, name string, s sessions.Settings) (sessions.Context, error) {
	var c *Context
	var err error
	if s.Mask.IsZero() { // the page of one that is ready does not know the mask
		c = b.takeWarm()
	}
	if c == nil {
		if c, err = b.makeContext(ctx); err != nil {
			return nil, b.failed("making a session", err)
		}
	}
	c.name, c.mask = name, s.Mask
	if !s.Mask.IsZero() {
		c.source = masking(observer.Limits{Elements: b.elements}, c.masks())
	}
	if err = c.Configure(ctx, s); err != nil {
		return nil, unfinished(ctx, err, b.dispose(c))
	}
	b.mu.Lock()
	taken := b.contexts[name] != nil
	if !taken {
		b.contexts[name] = c
	}
	b.mu.Unlock()
	if taken {
		return nil, unfinished(ctx, apierr.Errorf(apierr.Exists, "there is a session %q already", name), b.dispose(c))
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
	return &Context{browser: b, id: id, clipboard: b.clipboard.Session(id)}
}

// makeContext makes a context without a name. It ends with our connection at the latest.
func (b *Browser) makeContext(ctx context.Context) (*Context, error) {
	id, removed, err := b.root.CreateContext(ctx)
	if err != nil {
		return nil, unfinished(ctx, err, removed)
	}
	return b.newContext(id), nil
}

// dispose removes a context that nobody uses. It goes on whoever waits for the returned channel, which is closed then.
func (b *Browser) dispose(c *Context) <-chan struct{} {
	removed := make(chan struct{})
	b.conn.Go(func() {
		defer close(removed)
		if err := c.remove(context.WithoutCancel(b.ctx), false); err != nil {
			b.logger.Warn("a session could not be ended", "error", err)
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
	b.mu.Lock()
	if b.contexts[c.name] == c {
		delete(b.contexts, c.name)
	}
	b.mu.Unlock()
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

// Contexts lists the ids of the browser contexts beside the default one, also those that are kept warm.
func (b *Browser) Contexts(ctx context.Context) []string {
	res, err := cdp.Call(ctx, b.root, target.GetBrowserContexts, cdp.Empty{})
	if err != nil {
		return nil
	}
	ids := make([]string, len(res.BrowserContextIDs))
	for i, id := range res.BrowserContextIDs {
		ids[i] = string(id)
	}
	return ids
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
	version := c.browser.version[strings.LastIndexByte(c.browser.version, '/')+1:]
	c.mu.Lock()
	was := c.emulated
	c.emulated = emulate.New(s, version)
	c.mu.Unlock()
	return c.emulate(ctx, was)
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
		var refused *cdproto.Error
		if errors.As(err, &refused) && !frames.IsGoneContext(err) {
			return fmt.Errorf("the browser refuses what a tab is to pretend: %w", err)
		}
	}
	return nil
}

// pages lists the session's pages.
func (c *Context) pages() []*Page {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	var pages []*Page
	for _, p := range c.browser.pages {
		if p.context == c {
			pages = append(pages, p)
		}
	}
	return pages
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

// permit grants and denies what pages would ask a person for. Names that this browser does not know are left out.
func (c *Context) permit(ctx context.Context, s sessions.Settings) error {
	granted, denied := s.Decide()
	c.mu.Lock()
	same := c.denied != nil && slices.Equal(granted, c.granted) && slices.Equal(denied, c.denied)
	c.mu.Unlock()
	if same {
		return nil
	}
	err := c.clipboard.Grant(ctx, slices.Contains(granted, clipboard.Read), slices.Contains(granted, clipboard.Write), func(mayRead func() bool) error {
		return c.setPermissions(ctx, granted, denied, mayRead)
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.granted, c.denied = granted, denied
	c.mu.Unlock()
	return nil
}

// setPermissions sets the permissions of the context's pages in the browser.
func (c *Context) setPermissions(ctx context.Context, granted, denied []string, mayRead func() bool) error {
	steps := []devtools.Step{{Method: cdpbrowser.CommandResetPermissions, Params: cdpbrowser.ResetPermissionsParams{BrowserContextID: c.id}}}
	set := func(name string, setting cdpbrowser.PermissionSetting) {
		steps = append(steps, devtools.Step{Method: cdpbrowser.CommandSetPermission, Optional: true, Params: cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: name, UserVisibleOnly: name == "push", AllowWithoutSanitization: name == clipboard.Read},
			Setting:    setting, BrowserContextID: c.id}})
	}
	for _, name := range denied {
		set(name, cdpbrowser.PermissionSettingDenied)
	}
	for _, name := range granted {
		if name == clipboard.Read && !mayRead() { // until the session is acted on
			set(name, cdpbrowser.PermissionSettingDenied)
			continue
		}
		set(name, cdpbrowser.PermissionSettingGranted)
	}
	return c.browser.root.Run(ctx, steps...)
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

// visited notes that a tab showed a document.
func (c *Context) visited(address string) {
	c.stirs.Add(1)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	c.remember(u.Scheme + "://" + strings.ToLower(u.Host))
}

// remember keeps an origin, as the newest one.
func (c *Context) remember(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.origins); n > 0 && c.origins[n-1] == origin {
		return
	}
	c.origins = append(slices.DeleteFunc(c.origins, func(o string) bool { return o == origin }), origin)
	c.origins = c.origins[max(0, len(c.origins)-maxOrigins):]
}

// known lists the origins that may hold local storage.
func (c *Context) known() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.origins)
}

// State implements sessions.Context.
func (c *Context) State(ctx context.Context) (sessions.State, error) {
	var state sessions.State
	var err error
	if state.Cookies, err = storagestate.Cookies(ctx, c.browser.root, c.id); err != nil {
		return sessions.State{}, c.browser.failed("reading a session", err)
	}
	size := 0
	err = c.local(ctx, c.known(), func(l *storagestate.Local, origin string) error {
		entries, err := l.Read(ctx, origin)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			size += len(e.Name) + len(e.Value)
		}
		if size > sessions.MaxStateBytes {
			return apierr.Exceeded("state_bytes", sessions.MaxStateBytes, "the local storage of the session has more than %d MiB: clear what is not needed", sessions.MaxStateBytes>>20)
		}
		state.Origins = append(state.Origins, sessions.Origin{Origin: origin, Entries: entries})
		return nil
	})
	if err != nil {
		return sessions.State{}, c.browser.failed("reading a session", err)
	}
	return state, nil
}

// local visits origins by a hidden page.
func (c *Context) local(ctx context.Context, origins []string, do func(*storagestate.Local, string) error) error {
	if len(origins) == 0 {
		return nil
	}
	l, err := storagestate.OpenLocal(ctx, c.browser.root, c.id)
	if err != nil {
		return err
	}
	defer l.Close(ctx)
	for _, origin := range origins {
		if err := do(l, origin); err != nil {
			return err
		}
	}
	return nil
}

// SetState implements sessions.Context.
func (c *Context) SetState(ctx context.Context, state sessions.State, replace bool) error {
	if replace {
		if err := c.forget(ctx); err != nil {
			return c.browser.failed("clearing a session", err)
		}
	}
	if err := storagestate.SetCookies(ctx, c.browser.root, c.id, state.Cookies); err != nil {
		return c.browser.failed("loading a session", err)
	}
	all := map[string]sessions.Origin{}
	var origins []string
	for _, o := range state.Origins {
		origins = append(origins, o.Origin)
		all[o.Origin] = o
		c.remember(o.Origin)
	}
	err := c.local(ctx, origins, func(l *storagestate.Local, origin string) error { return l.Write(ctx, all[origin]) })
	if err != nil {
		return c.browser.failed("loading a session", err)
	}
	return nil
}

// forget clears all that is stored.
func (c *Context) forget(ctx context.Context) error {
	if _, err := cdp.Call(ctx, c.browser.root, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: c.id}); err != nil {
		return err
	}
	return c.local(ctx, c.known(), func(l *storagestate.Local, origin string) error { return l.Clear(ctx, origin) })
}
