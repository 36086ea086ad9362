package browser

import (
	"context"
	"errors"

	"github.com/domtap/domtap/internal/sessions"
)

// This file is what a supervisor of several browsers asks of one; see package browserpool.

var errKilled = errors.New("the browser was killed because it did not answer")

// Kill ends the browser at once, whatever it does, with all its processes; a remote one is let go of. Its pages end as
// those of a browser that crashed, and so do calls that are under way. Close is still owed.
func (b *Browser) Kill() {
	if !b.process.Owned() {
		b.leaveTabs()
	}
	b.process.Kill()
	b.cancel(errKilled)
	b.conn.Cut()
}

// CookieVersion counts what may have changed the cookies of a session; 0 when there is no such session.
func (b *Browser) CookieVersion(session string) uint64 {
	c, err := b.context(session)
	if err != nil {
		return 0
	}
	return c.store.Changes()
}

// Cookies reads the cookies of a session in one trip.
func (b *Browser) Cookies(ctx context.Context, session string) ([]sessions.Cookie, error) {
	c, err := b.context(session)
	if err != nil {
		return nil, err
	}
	cookies, err := c.store.Cookies(ctx, sessions.CookieFilter{})
	if err != nil {
		return nil, b.failed("reading a session", err)
	}
	return cookies, nil
}

// Starter returns what starts a browser, or attaches to one, each time it is called, by one goroutine at a time. When a
// connection to a remote browser was lost, the next one closes the tabs that were left open in it.
func Starter(cfg Config) func(ctx context.Context) (*Browser, error) {
	var last *Browser
	return func(ctx context.Context) (*Browser, error) {
		b, err := Start(ctx, cfg)
		if err != nil || b.process.Owned() {
			return b, err
		}
		if last != nil {
			b.targets.CloseLeft(ctx, last.targets)
		}
		last = b
		return b, nil
	}
}

// leaveTabs notes what a remote browser keeps open when the connection to it is lost: the tabs of the default session. The
// others end with their contexts. The pages have not ended yet.
func (b *Browser) leaveTabs() {
	for _, p := range b.pagesThat(func(p *Page) bool { return p.context.id == "" }) {
		b.targets.Leave(p.id)
	}
}
