package browser

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/sessions"
)

// warmLimit bounds the time to prepare a warm session.
const warmLimit = 30 * time.Second

// KeepWarm sets how many sessions are kept ready, each with a blank page; see warm.Pool.
func (b *Browser) KeepWarm(n int) { b.warm.KeepWarm(n) }

// Warm returns the number of ready sessions.
func (b *Browser) Warm() int { return b.warm.Warm() }

// makeReady creates a session without a name, with a blank page.
func (b *Browser) makeReady() (*Context, error) {
	ctx, cancel := context.WithTimeout(b.ctx, warmLimit)
	defer cancel()
	c, err := b.makeContext(ctx, nil)
	if err != nil {
		return nil, err
	}
	err = c.permit(ctx, sessions.Settings{})
	var p *Page
	if err == nil {
		p, err = b.newPage(ctx, c, dom.Box{})
	}
	if err != nil {
		<-c.dispose()
		return nil, err
	}
	c.ready = p
	return c, nil
}

// takeReady removes and returns the context's blank page. It returns nil if there is none or it is gone.
func (c *Context) takeReady() *Page {
	c.mu.Lock()
	p := c.ready
	c.ready = nil
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	if p.navigator.Down() || p.ctx.Err() != nil {
		p.end(nil)
		p.drain()
		return nil
	}
	return p
}
