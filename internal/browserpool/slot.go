package browserpool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/sessions"
)

// slot is the place of one browser, which comes and goes.
type slot struct {
	fleet *Fleet
	name  string
	start Starter
	log   *slog.Logger
	// first delivers how the first start went, once.
	first chan error

	// The rest is guarded by Fleet.mu. engine is nil while the slot is down; owned is the one that is to be closed.
	engine, owned Engine
	// life counts the browsers that the slot has had.
	life int
	// making counts sessions that are being made.
	making int
	// retry is when the next start begins; zero while one is under way.
	retry time.Time
}

func newSlot(f *Fleet, index int, start Starter) *slot {
	s := &slot{fleet: f, name: slotName(index), start: start, first: make(chan error, 1)}
	s.log = f.logger.With("browser", fmt.Sprintf("b%d", index))
	return s
}

// up reports whether the browser runs; the caller holds the lock.
func (s *slot) up() bool { return s.engine != nil && s.engine.Running() }

// load is how much there is to do; the caller holds the lock.
func (s *slot) load() int {
	load := s.making + len(s.fleet.of(s))
	if s.engine != nil {
		load += s.engine.OpenPages()
	}
	return load
}

// retryIn is about how long it takes until the browser runs; the caller holds the lock.
func (s *slot) retryIn() time.Duration { return max(0, time.Until(s.retry)) + startGuess }

// down is the error of what needs the browser while there is none; the caller holds the lock.
func (s *slot) down(what string) *actor.Error {
	if s.fleet.ctx.Err() != nil {
		return errEnding
	}
	wait := s.retryIn().Round(100 * time.Millisecond)
	return &actor.Error{Kind: actor.Lost, RetryAfter: wait,
		Message: fmt.Sprintf("%s: it is being started again, try again in %v", what, wait)}
}

// run starts the browser again and again until the fleet ends.
func (s *slot) run() {
	var pause backoff
	for began := true; ; began = false {
		e, err := s.rise()
		if began {
			s.first <- err
			if err != nil && s.name == "" {
				return
			}
		}
		var lived time.Duration
		if err == nil {
			born := time.Now()
			err = s.watch(e)
			lived = time.Since(born)
			s.fall(e, err)
		}
		if s.fleet.ctx.Err() != nil {
			return
		}
		wait := pause.died(lived)
		s.log.Error("the browser is started again", "after", wait, "lived", lived, "error", err)
		if !s.rest(wait) {
			return
		}
	}
}

// rest waits; false when the fleet ends.
func (s *slot) rest(wait time.Duration) bool {
	s.fleet.mu.Lock()
	s.retry = time.Now().Add(wait)
	s.fleet.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.fleet.ctx.Done():
		return false
	}
	s.fleet.mu.Lock()
	s.retry = time.Time{}
	s.fleet.mu.Unlock()
	return true
}

// rise starts a browser and gives it the sessions of the slot.
func (s *slot) rise() (Engine, error) {
	f := s.fleet
	ctx, cancel := context.WithTimeout(f.ctx, startBound)
	defer cancel()
	e, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	s.owned = e
	had := f.of(s)
	f.mu.Unlock()
	e.DeliverTo(f.popups)
	e.KeepWarm(f.warm)
	made := s.restore(ctx, e, had)
	if err = ctx.Err(); err == nil && !e.Running() {
		err = errGone
	}
	if err != nil {
		if f.ctx.Err() == nil {
			e.Kill() // what hangs at its start does not end by itself
		}
		s.bury(e)
		return nil, fmt.Errorf("bringing the sessions back: %w", err)
	}
	f.mu.Lock()
	s.engine = e
	s.life++
	life := s.life
	var closed []sessions.Context
	for i, one := range had {
		if f.sessions[one.name] != one {
			closed = append(closed, made[i].inner)
			continue
		}
		one.inner, one.broken = made[i].inner, made[i].err
		one.copy.stirred = 0 // the browser counts anew
		if life > 1 {
			one.restarts++
		}
	}
	if life > 1 {
		f.restarts++
	}
	s.announce()
	f.mu.Unlock()
	for _, c := range closed { // while they were being made
		if c != nil {
			discard(ctx, c)
		}
	}
	s.log.Info("the browser runs", "version", e.Version(), "generation", life, "sessions", len(had))
	f.tell()
	return e, nil
}

// announce wakes who waits for the slot; the caller holds the lock.
func (s *slot) announce() {
	close(s.fleet.changed)
	s.fleet.changed = make(chan struct{})
}

// fall takes the browser out of service and ends what is left of it.
func (s *slot) fall(e Engine, why error) {
	f := s.fleet
	f.mu.Lock()
	s.engine = nil
	for _, one := range f.of(s) {
		one.inner = nil
	}
	s.announce()
	f.mu.Unlock()
	f.tell()
	if errors.Is(why, errHung) {
		e.Kill()
	}
	s.bury(e)
}

// bury closes a browser, and kills it when that takes too long.
func (s *slot) bury(e Engine) {
	f := s.fleet
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
		s.log.Warn("something of the browser may be left", "error", err)
	}
}

// remade is what became of a session in a new browser.
type remade struct {
	inner sessions.Context
	err   error
}

// atOnce is how many sessions are made again at the same time.
const atOnce = 8

// restore makes the sessions in a new browser.
func (s *slot) restore(ctx context.Context, e Engine, had []*session) []remade {
	made := make([]remade, len(had))
	free := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, one := range had {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			made[i].inner, made[i].err = one.remake(ctx, e)
		})
	}
	wg.Wait()
	return made
}

// Why a browser is started again.
var (
	errGone = errors.New("the browser is gone")
	errHung = errors.New("the browser does not answer, and is killed")
)

const (
	// beats is how many times the watch looks during Config.Patience. They are counted, not timed: when the daemon itself
	// was stopped for a while, its browsers are not to blame.
	beats = 15
	// pingBeats is after how many of them the browser is asked whether it is there.
	pingBeats = 3
	// keepBeats is after how many of them cookies are read, when there may be new ones.
	keepBeats = 3
)

// watch returns why the browser is to be started again, or when the fleet ends. What it starts may run until the
// browser is closed.
func (s *slot) watch(e Engine) error {
	tick := time.NewTicker(s.fleet.patience / beats)
	defer tick.Stop()
	answered, kept := make(chan struct{}, 1), make(chan struct{}, 1)
	asking, keeping, silent := false, false, 0
	for n := 1; ; {
		select {
		case <-s.fleet.ctx.Done():
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
			if asking && silent >= beats {
				return errHung
			}
			if !asking && n%pingBeats == 0 {
				asking, silent = true, 0
				s.fleet.running.Go(func() { s.ping(e, answered) })
			}
			if !keeping && n%keepBeats == 0 {
				keeping = true
				s.fleet.running.Go(func() { s.keep(e, kept) })
			}
		}
	}
}

// ping asks whether the browser is there. That it refuses to say is an answer.
func (s *slot) ping(e Engine, answered chan<- struct{}) {
	ctx, cancel := context.WithCancel(s.fleet.ctx)
	defer cancel()
	defer whenDone(e, cancel)()
	_ = e.Ping(ctx)
	if ctx.Err() == nil {
		answered <- struct{}{}
	}
}

// whenDone cancels what is under way in a browser when that is gone, until the returned function is called.
func whenDone(e Engine, cancel func()) (stop func()) {
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
