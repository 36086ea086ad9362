// Package warm prepares sessions in advance, because creating a session with a blank page is slow.
//
// A Pool creates sessions in the background, one at a time, after the first session was taken. After Pool.Life has ended, callers must call
// Pool.Tasks.Wait and remove the ready sessions.
package warm

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/retry"
)

// pause is the delay between a Take and the creation of the next session. It gives priority to the page that is opened in the taken
// session.
const pause = time.Second

// Config sets up a Pool.
type Config[S any] struct {
	// Life stops the creation of sessions when it ends.
	Life context.Context
	// Tasks counts the goroutine that creates sessions.
	Tasks *sync.WaitGroup
	// Make creates a session. It is called by one goroutine at a time.
	Make func() (S, error)
	// OnFailure receives the error of a failed Make. The next Take tries again.
	OnFailure func(error)
}

// Pool holds the ready sessions.
type Pool[S any] struct {
	config Config[S]

	mu sync.Mutex
	// size is how many sessions the pool keeps ready.
	size int
	// ready holds the complete sessions. making is set while the goroutine that creates more is running.
	ready  []S
	making bool
}

// New returns a pool that keeps no session ready; see Pool.KeepWarm.
func New[S any](c Config[S]) *Pool[S] { return &Pool[S]{config: c} }

// KeepWarm sets how many sessions are kept ready after the first session was taken. Each costs about as much memory as a session with a
// tab. A browser that has only the default session pays nothing.
func (p *Pool[S]) KeepWarm(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = n
}

// Warm returns the number of ready sessions.
func (p *Pool[S]) Warm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready)
}

// Take returns a ready session and starts the creation of the next one. ok is false if none is ready.
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

// fill creates sessions until there are enough, or until Make fails.
func (p *Pool[S]) fill() {
	_ = retry.Pause(p.config.Life, pause) // needsMore checks whether Life has ended
	for p.needsMore() {
		s, err := p.config.Make()
		if err != nil {
			p.config.OnFailure(err)
			p.stopMaking()
			return
		}
		p.add(s)
	}
}

// needsMore reports whether more sessions are needed. If not, it records that fill has ended.
func (p *Pool[S]) needsMore() bool {
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
