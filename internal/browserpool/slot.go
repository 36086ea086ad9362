package browserpool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/retry"
	"github.com/domtap/domtap/internal/sessions"
)

// slot holds one browser at a time.
type slot struct {
	pool  *Pool
	name  string
	start Starter
	log   *slog.Logger
	// first delivers the result of the first start, once.
	first chan error

	// Pool.mu guards the fields below. engine is nil while the slot is down. owned is the browser that must be closed.
	engine, owned Engine
	// generation counts the browsers that the slot has had.
	generation int
	// making counts the sessions that are being created.
	making int
	// retry is the time of the next start. It is zero while a start is in progress.
	retry time.Time
}

func newSlot(f *Pool, index int, start Starter) *slot {
	s := &slot{pool: f, name: slotName(index), start: start, first: make(chan error, 1)}
	s.log = f.logger.With("browser", fmt.Sprintf("b%d", index))
	return s
}

// up reports whether the browser runs. The caller holds the lock.
func (s *slot) up() bool { return s.engine != nil && s.engine.Running() }

// load returns the number of pages and sessions. The caller holds the lock.
func (s *slot) load() int {
	load := s.making + len(s.pool.sessionsOf(s))
	if s.engine != nil {
		load += s.engine.OpenPages()
	}
	return load
}

// retryIn returns the estimated time until the browser runs. The caller holds the lock.
func (s *slot) retryIn() time.Duration { return max(0, time.Until(s.retry)) + startGuess }

// down returns the error of a call that needs the browser while it does not run. The caller holds the lock.
func (s *slot) down(what string) *apierr.Error {
	if s.pool.ctx.Err() != nil {
		return errStopping
	}
	wait := s.retryIn().Round(100 * time.Millisecond)
	return &apierr.Error{Kind: apierr.Lost, RetryAfter: wait,
		Message: fmt.Sprintf("%s: it is restarting; try again in %v", what, wait)}
}

// run keeps the browser running until the pool ends.
func (s *slot) run() {
	var delays backoff
	for began := true; ; began = false {
		e, err := s.startBrowser()
		if began {
			s.first <- err
			if err != nil && s.name == "" {
				return
			}
		}
		var lived time.Duration
		if err == nil {
			born := time.Now()
			err = s.monitor(e)
			lived = time.Since(born)
			s.stopBrowser(e, err)
		}
		if s.pool.ctx.Err() != nil {
			return
		}
		wait := delays.next(lived)
		s.log.Error("the browser is restarting", "after", wait, "lived", lived, "error", err)
		if !s.pause(wait) {
			return
		}
	}
}

// pause waits before the next start. It returns false if the pool ends.
func (s *slot) pause(wait time.Duration) bool {
	s.pool.mu.Lock()
	s.retry = time.Now().Add(wait)
	s.pool.mu.Unlock()
	if retry.Pause(s.pool.ctx, wait) != nil {
		return false
	}
	s.pool.mu.Lock()
	s.retry = time.Time{}
	s.pool.mu.Unlock()
	return true
}

// startBrowser starts a browser and restores the sessions of the slot in it.
func (s *slot) startBrowser() (Engine, error) {
	f := s.pool
	ctx, cancel := context.WithTimeout(f.ctx, startBound)
	defer cancel()
	e, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	s.owned = e
	had := f.sessionsOf(s)
	f.mu.Unlock()
	e.DeliverTo(f.popups)
	e.KeepWarm(f.warm)
	made := s.restore(ctx, e, had)
	if err = ctx.Err(); err == nil && !e.Running() {
		err = errGone
	}
	if err != nil {
		if f.ctx.Err() == nil {
			e.Kill() // a browser that hangs at its start does not end by itself
		}
		s.closeBrowser(e)
		return nil, fmt.Errorf("restore the sessions: %w", err)
	}
	generation, closed := s.adopt(e, had, made)
	for _, c := range closed {
		if c != nil {
			discard(ctx, c)
		}
	}
	s.log.Info("the browser runs", "version", e.Version(), "generation", generation, "sessions", len(had))
	f.reportUp()
	return e, nil
}

// adopt makes a started browser the browser of the slot, with the sessions that were restored in it. closed contains the contexts of
// sessions that were closed during the restore.
func (s *slot) adopt(e Engine, had []*session, made []recreated) (generation int, closed []sessions.Context) {
	f := s.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	s.engine = e
	s.generation++
	for i, one := range had {
		if f.sessions[one.name] != one {
			closed = append(closed, made[i].inner)
			continue
		}
		one.inner, one.broken = made[i].inner, made[i].err
		one.copy.version = 0 // the counter of a new browser starts anew
		if s.generation > 1 {
			one.restarts++
		}
	}
	if s.generation > 1 {
		f.restarts++
	}
	s.notify()
	return s.generation, closed
}

// notify wakes calls that wait for a change of the slot. The caller holds the lock.
func (s *slot) notify() {
	close(s.pool.changed)
	s.pool.changed = make(chan struct{})
}

// stopBrowser takes the browser out of service and closes it.
func (s *slot) stopBrowser(e Engine, why error) {
	f := s.pool
	f.mu.Lock()
	s.engine = nil
	for _, one := range f.sessionsOf(s) {
		one.inner = nil
	}
	s.notify()
	f.mu.Unlock()
	f.reportUp()
	if errors.Is(why, errHung) {
		e.Kill()
	}
	s.closeBrowser(e)
}

// closeBrowser closes a browser. It kills the browser if that takes too long.
func (s *slot) closeBrowser(e Engine) {
	f := s.pool
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), closeBound)
	defer cancel()
	defer context.AfterFunc(ctx, e.Kill)()
	err := e.Close(ctx)
	f.mu.Lock()
	s.owned = nil
	if err != nil && f.ctx.Err() != nil {
		f.errs = append(f.errs, err)
	}
	f.mu.Unlock()
	if err != nil {
		s.log.Warn("parts of the browser may still run", "error", err)
	}
}

// recreated is the result of restoring one session in a new browser.
type recreated struct {
	inner sessions.Context
	err   error
}

// maxConcurrentRestores limits how many sessions are restored concurrently.
const maxConcurrentRestores = 8

// restore restores the sessions in a new browser.
func (s *slot) restore(ctx context.Context, e Engine, had []*session) []recreated {
	made := make([]recreated, len(had))
	free := make(chan struct{}, maxConcurrentRestores)
	var wg sync.WaitGroup
	for i, one := range had {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			made[i].inner, made[i].err = one.recreate(ctx, e)
		})
	}
	wg.Wait()
	return made
}

// Reasons for a restart of a browser.
var (
	errGone = errors.New("the browser is gone")
	errHung = errors.New("the browser does not answer and is killed")
)

const (
	// ticks is the number of checks of monitor during Config.HangTimeout. monitor counts ticks instead of time, so that browsers do not
	// count as hung after the daemon itself was stopped for a while.
	ticks = 15
	// pingTicks is the number of ticks between two pings.
	pingTicks = 3
	// copyTicks is the number of ticks between two copies of cookies that may have changed.
	copyTicks = 3
)

// monitor monitors the browser. It returns the reason for a restart, or nil when the pool ends. The goroutines that it starts may run until
// the browser is closed.
func (s *slot) monitor(e Engine) error {
	tick := time.NewTicker(s.pool.hangTimeout / ticks)
	defer tick.Stop()
	answered, kept := make(chan struct{}, 1), make(chan struct{}, 1)
	asking, keeping, silent := false, false, 0
	for n := 1; ; {
		select {
		case <-s.pool.ctx.Done():
			return nil
		case <-e.Done():
			return errGone
		case <-answered:
			asking, silent = false, 0
		case <-kept:
			keeping = false
		case <-tick.C:
			n++
			silent++
			if asking && silent >= ticks {
				return errHung
			}
			if !asking && n%pingTicks == 0 {
				asking, silent = true, 0
				s.pool.running.Go(func() { s.ping(e, answered) })
			}
			if !keeping && n%copyTicks == 0 {
				keeping = true
				s.pool.running.Go(func() { s.copyCookies(e, kept) })
			}
		}
	}
}

// ping pings the browser and reports the answer to answered. An error of the browser counts as an answer.
func (s *slot) ping(e Engine, answered chan<- struct{}) {
	ctx, cancel := context.WithCancel(s.pool.ctx)
	defer cancel()
	defer cancelWhenDone(e, cancel)()
	_ = e.Ping(ctx)
	if ctx.Err() == nil {
		answered <- struct{}{}
	}
}

// cancelWhenDone calls cancel when the browser is gone, unless stop is called first.
func cancelWhenDone(e Engine, cancel func()) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-e.Done():
			cancel()
		case <-over:
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}
