package browser

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/sessions"
)

// warmLimit bounds the making of a session that is kept ready.
const warmLimit = 30 * time.Second

// KeepWarm says how many sessions are kept ready, with a blank page each; see warm.Pool.
func (b *Browser) KeepWarm(n int) { b.warm.KeepWarm(n) }

// Warm is how many sessions are ready.
func (b *Browser) Warm() int { return b.warm.Warm() }

// makeReady makes a session without a name, with a blank page.
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

// takeReady takes the blank page that waits in a session, unless there is none or it is gone.
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
