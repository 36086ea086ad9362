package browser

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	// warmPause is how long after a session was taken the next one is made ready: the page that is opened in the
	// taken one comes first.
	warmPause = time.Second
	// warmBound is how long that may take.
	warmBound = 30 * time.Second
)

// warm are the sessions that are ready before anybody asks for them. Guarded by Browser.mu.
type warm struct {
	// size is how many there are to be.
	size int
	// ready are complete, each with a blank page; making says that one is on its way.
	ready  []*Context
	making bool
}

// KeepWarm says how many sessions are kept ready, with a blank page each, once the first session was asked for: a
// browser that has only the default one pays nothing. Each costs about as much memory as one with a tab.
func (b *Browser) KeepWarm(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warm.size = n
}

// Warm is how many sessions are ready.
func (b *Browser) Warm() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.warm.ready)
}

// takeWarm takes a session that is ready, or nil, and lets the next one be made.
func (b *Browser) takeWarm() *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	var c *Context
	if n := len(b.warm.ready); n > 0 {
		c = b.warm.ready[n-1]
		b.warm.ready = b.warm.ready[:n-1]
	}
	if b.warm.size > 0 && !b.warm.making && b.ctx.Err() == nil {
		b.warm.making = true
		b.wg.Go(b.fill)
	}
	return c
}

// fill makes sessions ready until there are enough, or one fails: then the next that is taken tries again.
func (b *Browser) fill() {
	pause := time.NewTimer(warmPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-b.ctx.Done():
	}
	for b.lacks() {
		c, err := b.makeReady()
		if err != nil {
			b.logger.Debug("no session could be made ready", "error", err)
			b.mu.Lock()
			b.warm.making = false
			b.mu.Unlock()
			return
		}
		b.mu.Lock()
		b.warm.ready = append(b.warm.ready, c)
		b.mu.Unlock()
	}
}

// lacks reports whether more sessions are to be made ready; when not, nobody makes them any more.
func (b *Browser) lacks() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.warm.ready) < b.warm.size && b.ctx.Err() == nil {
		return true
	}
	b.warm.making = false
	return false
}

func (b *Browser) makeReady() (*Context, error) {
	ctx, cancel := context.WithTimeout(b.ctx, warmBound)
	defer cancel()
	c, err := b.makeContext(ctx)
	if err != nil {
		return nil, err
	}
	err = c.permit(ctx, sessions.Settings{})
	var p *Page
	if err == nil {
		p, err = b.newPage(ctx, c, dom.Box{})
	}
	if err != nil {
		<-b.dispose(c)
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
