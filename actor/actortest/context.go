package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/sessions"
)

// Context is a fake sessions.Context that records its calls.
type Context struct {
	browser *Browser
	name    string

	// The browser's lock guards the fields below.
	settings []sessions.Settings
	state    sessions.State
	closed   bool
	hold     chan struct{}
	fault    error
}

// NewContext creates the context of a session.
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

// DefaultContext returns the context of the default session.
func (b *Browser) DefaultContext() sessions.Context { return b.Context(driver.DefaultSession) }

// Context returns the newest context with a name, even if it is closed, or nil if there was none.
func (b *Browser) Context(name string) *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts[name]
}

// Open returns the names of the open sessions.
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

// has reports whether there is an open session with a name.
func (b *Browser) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.contexts[name]
	return name == "" || c != nil && !c.closed
}

// Hold makes the context's methods wait until the returned function is called, or their context ends.
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

// Fail makes the context's methods fail with err from now on. Nil ends that.
func (c *Context) Fail(err error) {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.fault = err
}

// Settings returns the settings that the context received, oldest first.
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

// Configure records the settings.
func (c *Context) Configure(ctx context.Context, s sessions.Settings) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.settings = append(c.settings, s)
	return nil
}

// State returns the recorded state.
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

// Stored calls do with the recorded state.
func (c *Context) Stored(ctx context.Context, do func(sessions.Storage) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return do(pieces{c})
}

// pieces is a fake sessions.Storage on the recorded state of a Context. Its cookie filters use only names.
type pieces struct{ c *Context }

// Masked reports whether the session has masks.
func (p pieces) Masked() bool {
	all := p.c.Settings()
	return len(all) > 0 && !all[len(all)-1].Mask.IsZero()
}

// Cookies returns the cookies with a name.
func (p pieces) Cookies(ctx context.Context, f sessions.CookieFilter) ([]sessions.Cookie, error) {
	state, err := p.c.State(ctx, sessions.StateOptions{})
	return slices.DeleteFunc(slices.Clone(state.Cookies), func(one sessions.Cookie) bool { return f.Name != "" && one.Name != f.Name }), err
}

// SetCookies adds cookies.
func (p pieces) SetCookies(ctx context.Context, cookies []sessions.Cookie) error {
	return p.c.SetState(ctx, sessions.State{Cookies: cookies}, false)
}

// DeleteCookies deletes the cookies with a name.
func (p pieces) DeleteCookies(_ context.Context, f sessions.CookieFilter) (int, error) {
	p.c.browser.mu.Lock()
	defer p.c.browser.mu.Unlock()
	before := len(p.c.state.Cookies)
	p.c.state.Cookies = slices.DeleteFunc(slices.Clone(p.c.state.Cookies), func(one sessions.Cookie) bool { return f.Name == "" || one.Name == f.Name })
	return before - len(p.c.state.Cookies), nil
}

// LocalStorage returns the recorded entries.
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

// RefusedCookie is the name of a cookie that makes SetState fail as a whole.
const RefusedCookie = "refused"

// SetState adds a state to the recorded one, or replaces it.
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

// Close closes the context and its pages.
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

// Downloads returns an empty path.
func (c *Context) Downloads() string { return "" }
