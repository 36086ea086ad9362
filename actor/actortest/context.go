package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/sessions"
)

// Context is a fake of sessions.Context: it keeps what it is told.
type Context struct {
	browser *Browser
	name    string

	// The rest is guarded by the browser's lock.
	settings []sessions.Settings
	state    sessions.State
	closed   bool
	hold     chan struct{}
	fault    error
}

// NewContext makes a session's side.
func (b *Browser) NewContext(ctx context.Context, name string, s sessions.Settings) (sessions.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openErr != nil {
		return nil, b.openErr
	}
	c := &Context{browser: b, name: name, settings: []sessions.Settings{s}}
	b.contexts[name] = c
	return c, nil
}

// DefaultContext is the side of the default session.
func (b *Browser) DefaultContext() sessions.Context { return b.Context(driver.DefaultSession) }

// Context returns the newest side of that name, closed ones included; nil when there was none.
func (b *Browser) Context(name string) *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts[name]
}

// Open lists the names of the sessions that are there.
func (b *Browser) Open() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for name, c := range b.contexts {
		if !c.closed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// has reports whether there is a session of that name.
func (b *Browser) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.contexts[name]
	return name == "" || c != nil && !c.closed
}

// Hold lets the context's methods wait until the returned function is called, or their context ends.
func (c *Context) Hold() (release func()) {
	held := make(chan struct{})
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.hold = held
	return func() {
		c.browser.mu.Lock()
		defer c.browser.mu.Unlock()
		if c.hold == held {
			c.hold = nil
		}
		close(held)
	}
}

// Fail lets the context's methods fail from now on; nil: no more.
func (c *Context) Fail(err error) {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.fault = err
}

// Settings lists the settings that the context was given, oldest first.
func (c *Context) Settings() []sessions.Settings {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return slices.Clone(c.settings)
}

// Closed reports whether the context was closed.
func (c *Context) Closed() bool {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.closed
}

func (c *Context) begin(ctx context.Context) error {
	c.browser.mu.Lock()
	hold, fault := c.hold, c.fault
	c.browser.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault
}

// Configure keeps the settings.
func (c *Context) Configure(ctx context.Context, s sessions.Settings) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.settings = append(c.settings, s)
	return nil
}

// State returns what was set.
func (c *Context) State(ctx context.Context, o sessions.StateOptions) (sessions.State, error) {
	err := c.begin(ctx)
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	state := c.state
	if !o.Databases {
		state.Origins = slices.Clone(state.Origins)
		for i := range state.Origins {
			state.Origins[i].Databases = nil
		}
	}
	return state, err
}

// Stored calls do with what was set.
func (c *Context) Stored(ctx context.Context, do func(sessions.Storage) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return do(pieces{c})
}

// pieces is a fake of sessions.Storage on what a Context was told. Filters of cookies are names alone.
type pieces struct{ c *Context }

// Masked reports whether the session masks something.
func (p pieces) Masked() bool {
	all := p.c.Settings()
	return len(all) > 0 && !all[len(all)-1].Mask.IsZero()
}

// Cookies lists the cookies of a name.
func (p pieces) Cookies(ctx context.Context, f sessions.CookieFilter) ([]sessions.Cookie, error) {
	state, err := p.c.State(ctx, sessions.StateOptions{})
	return slices.DeleteFunc(slices.Clone(state.Cookies), func(one sessions.Cookie) bool { return f.Name != "" && one.Name != f.Name }), err
}

// SetCookies adds cookies.
func (p pieces) SetCookies(ctx context.Context, cookies []sessions.Cookie) error {
	return p.c.SetState(ctx, sessions.State{Cookies: cookies}, false)
}

// DeleteCookies deletes the cookies of a name.
func (p pieces) DeleteCookies(_ context.Context, f sessions.CookieFilter) (int, error) {
	p.c.browser.mu.Lock()
	defer p.c.browser.mu.Unlock()
	before := len(p.c.state.Cookies)
	p.c.state.Cookies = slices.DeleteFunc(slices.Clone(p.c.state.Cookies), func(one sessions.Cookie) bool { return f.Name == "" || one.Name == f.Name })
	return before - len(p.c.state.Cookies), nil
}

// LocalStorage lists what was set.
func (p pieces) LocalStorage(ctx context.Context, origin string) ([]sessions.Origin, error) {
	state, err := p.c.State(ctx, sessions.StateOptions{})
	return slices.DeleteFunc(slices.Clone(state.Origins), func(one sessions.Origin) bool { return origin != "" && one.Origin != origin }), err
}

// EditLocalStorage changes the entries of an origin.
func (p pieces) EditLocalStorage(_ context.Context, origin string, e sessions.Edit) error {
	p.c.browser.mu.Lock()
	defer p.c.browser.mu.Unlock()
	p.c.state.Origins = slices.Clone(p.c.state.Origins)
	i := slices.IndexFunc(p.c.state.Origins, func(one sessions.Origin) bool { return one.Origin == origin })
	if i < 0 {
		i = len(p.c.state.Origins)
		p.c.state.Origins = append(p.c.state.Origins, sessions.Origin{Origin: origin})
	}
	p.c.state.Origins[i].Entries = EditEntries(p.c.state.Origins[i].Entries, e)
	return nil
}

// RefusedCookie is the name of a cookie that SetState refuses, with all that come with it.
const RefusedCookie = "refused"

// SetState keeps a state behind what is there, or in its place.
func (c *Context) SetState(ctx context.Context, s sessions.State, replace bool) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Cookies, func(one sessions.Cookie) bool { return one.Name == RefusedCookie }) {
		return apierr.Errorf(apierr.Invalid, "the browser refuses a cookie, and so set none")
	}
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	if replace {
		c.state = sessions.State{}
	}
	c.state.Cookies = append(slices.Clip(c.state.Cookies), s.Cookies...)
	c.state.Origins = append(slices.Clip(c.state.Origins), s.Origins...)
	return nil
}

// Close ends the context and the pages in it.
func (c *Context) Close(ctx context.Context, _ bool) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.browser.mu.Lock()
	c.closed = true
	pages := slices.Clone(c.browser.pages)
	c.browser.mu.Unlock()
	for _, p := range pages {
		if p.session == c.name {
			p.end(nil)
		}
	}
	return nil
}

// Downloads is nowhere.
func (c *Context) Downloads() string { return "" }
