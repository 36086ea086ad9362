// Package warm keeps sessions ready before anybody asks for them, because a session with a blank page takes long to make.
//
// A Pool makes sessions in the background, one at a time, once the first session is taken. Callers owe: Pool.Tasks.Wait after
// Pool.Life has ended; and the removal of the sessions that are ready by then.
package warm

import (
	"context"
	"sync"
	"time"
)

// pause is how long after a session was taken the next one is made: the page that is opened in the taken session comes first.
const pause = time.Second

// Config says how a Pool makes its sessions.
type Config[S any] struct {
	// Life ends the making of sessions.
	Life context.Context
	// Tasks counts the goroutine that makes sessions.
	Tasks *sync.WaitGroup
	// Make makes a session. It is called by one goroutine at a time.
	Make func() (S, error)
	// OnFailure takes why a session could not be made. The next Take tries again.
	OnFailure func(error)
}

// Pool holds the sessions that are ready.
type Pool[S any] struct {
	config Config[S]

	mu sync.Mutex
	// size is how many sessions are to be ready.
	size int
	// ready are the complete sessions; making says that the goroutine that makes more is running.
	ready  []S
	making bool
}

// New makes a pool that keeps no session ready; see Pool.KeepWarm.
func New[S any](c Config[S]) *Pool[S] { return &Pool[S]{config: c} }

// KeepWarm says how many sessions are kept ready once the first session is taken. Each costs about as much memory as a
// session with a tab, so a browser that has only the default session pays nothing.
func (p *Pool[S]) KeepWarm(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = n
}

// Warm is how many sessions are ready.
func (p *Pool[S]) Warm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready)
}

// Take takes a session that is ready, and lets the next one be made; false: none is ready.
func (p *Pool[S]) Take() (s S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.ready); n > 0 {
		s, ok = p.ready[n-1], true
		p.ready = p.ready[:n-1]
	}
	if p.size > 0 && !p.making && p.config.Life.Err() == nil {
		p.making = true
		p.config.Tasks.Go(p.fill)
	}
	return s, ok
}

// fill makes sessions until there are enough, or one cannot be made.
func (p *Pool[S]) fill() {
	wait := time.NewTimer(pause)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-p.config.Life.Done():
	}
	for p.lacks() {
		s, err := p.config.Make()
		if err != nil {
			p.config.OnFailure(err)
			p.stopMaking()
			return
		}
		p.add(s)
	}
}

// lacks reports whether more sessions are to be made; when not, the goroutine that makes them is over.
func (p *Pool[S]) lacks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ready) < p.size && p.config.Life.Err() == nil {
		return true
	}
	p.making = false
	return false
}

func (p *Pool[S]) add(s S) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = append(p.ready, s)
}

func (p *Pool[S]) stopMaking() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making = false
}
