package browser

import (
	"context"
	"errors"

	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/sessions"
)

// This file has the methods that a supervisor of several browsers calls; see package browserpool.

var errKilled = errors.New("the browser was killed because it did not answer")

// Kill ends the browser and all its processes immediately. It detaches from a remote browser. The pages end as after a crash, and calls in
// flight fail. Close must still be called.
func (b *Browser) Kill() {
	if !b.process.Owned() {
		b.abandonTabs()
	}
	b.process.Kill()
	b.cancel(errKilled)
	b.conn.Cut()
}

// CookieVersion returns a counter that increases with each possible change of a session's cookies. It returns 0 for an unknown session.
func (b *Browser) CookieVersion(session string) uint64 {
	c, err := b.context(session)
	if err != nil {
		return 0
	}
	return c.store.Changes()
}

// Cookies reads the cookies of a session in one round trip.
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

// Starter returns a function that starts a browser, or attaches to one. Calls must not be concurrent. If the connection to a remote browser
// was lost, the next call closes the tabs that were left open in it.
func Starter(cfg Config) func(ctx context.Context) (*Browser, error) {
	var last *Browser
	cfg.Refusals = new(launch.Refusals)
	return func(ctx context.Context) (*Browser, error) {
		b, err := Start(ctx, cfg)
		if err != nil || b.process.Owned() {
			return b, err
		}
		if last != nil {
			b.targets.CloseAbandoned(ctx, last.targets)
		}
		last = b
		return b, nil
	}
}

// abandonTabs records the tabs that a remote browser keeps open after its connection is lost: the tabs of the default session, except those
// that were taken over. Other tabs end with their contexts. It must run before the pages end.
func (b *Browser) abandonTabs() {
	for _, p := range b.pagesThat(func(p *Page) bool { return p.context.id == "" && !p.takenOver }) {
		b.targets.Abandon(p.id)
	}
}
