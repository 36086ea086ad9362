package browser

import (
	"context"
	"sync"
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

// warmPool are the sessions that are ready before anybody asks for them.
type warmPool struct {
	life  context.Context
	tasks *sync.WaitGroup
	// onFailure takes why a session could not be made.
	onFailure func(error)
	// make makes a session ready.
	make func() (*Context, error)

	mu sync.Mutex
	// size is how many there are to be.
	size int
	// ready are complete, each with a blank page; making says that one is on its way.
	ready  []*Context
	making bool
}

// KeepWarm says how many sessions are kept ready, with a blank page each, once the first session was asked for: a
// browser that has only the default one pays nothing. Each costs about as much memory as one with a tab.
func (w *warmPool) KeepWarm(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size = n
}

// Warm is how many sessions are ready.
func (w *warmPool) Warm() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ready)
}

// takeWarm takes a session that is ready, or nil, and lets the next one be made.
func (w *warmPool) takeWarm() *Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	var c *Context
	if n := len(w.ready); n > 0 {
		c = w.ready[n-1]
		w.ready = w.ready[:n-1]
	}
	if w.size > 0 && !w.making && w.life.Err() == nil {
		w.making = true
		w.tasks.Go(w.fill)
	}
	return c
}

// fill makes sessions ready until there are enough, or one fails: then the next that is taken tries again.
func (w *warmPool) fill() {
	pause := time.NewTimer(warmPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-w.life.Done():
	}
	for w.lacks() {
		c, err := w.make()
		if err != nil {
			w.onFailure(err)
		}
		w.mu.Lock()
		if err != nil {
			w.making = false
			w.mu.Unlock()
			return
		}
		w.ready = append(w.ready, c)
		w.mu.Unlock()
	}
}

// lacks reports whether more sessions are to be made ready; when not, nobody makes them any more.
func (w *warmPool) lacks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ready) < w.size && w.life.Err() == nil {
		return true
	}
	w.making = false
	return false
}

// makeReady makes a session without a name, with a blank page.
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
