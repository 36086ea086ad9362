package browserpool_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/sessions"
)

// engine is a fake browser. Tests make it die, hang or refuse sessions.
type engine struct {
	*actortest.Browser
	done chan struct{}

	mu sync.Mutex
	// hung is set while the browser hangs. It is closed when the hang ends.
	hung         chan struct{}
	dead, killed bool
	stirs        map[string]uint64
	cookies      map[string][]sessions.Cookie
	// asked counts the reads of cookies by session. closed counts the calls of Close.
	asked       map[string]int
	closed      int
	popups      chan<- driver.Popup
	warm, pages int
	// stubborn browsers do not end when they are closed. slow delays NewContext.
	stubborn bool
	slow     chan struct{}
	// delay is the time that each operation on a session takes before its effect, and again after it.
	delay time.Duration
	// refuses is the name of a session that the browser refuses to create.
	refuses string
}

func newEngine() *engine {
	return &engine{Browser: actortest.NewBrowser(), done: make(chan struct{}), stirs: map[string]uint64{}, cookies: map[string][]sessions.Cookie{}, asked: map[string]int{}}
}

func (e *engine) Version() string       { return "Fake/1" }
func (e *engine) Done() <-chan struct{} { return e.done }

func (e *engine) KeepWarm(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.warm = n
}

func (e *engine) DeliverTo(popups chan<- driver.Popup) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.popups = popups
}

func (e *engine) Running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.dead
}

func (e *engine) OpenPages() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pages
}

func (e *engine) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	p, err := e.Browser.NewPage(ctx, o)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		e.pages++
	}
	return p, err
}

func (e *engine) NewContext(ctx context.Context, name string, s sessions.Settings) (sessions.Context, error) {
	e.mu.Lock()
	slow, refused, delay := e.slow, e.refuses == name, e.delay
	e.mu.Unlock()
	time.Sleep(delay)
	if refused {
		return nil, errors.New("no such device")
	}
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
		}
	}
	if !e.Running() {
		return nil, apierr.Errorf(apierr.Lost, "the browser is gone")
	}
	made, err := e.Browser.NewContext(ctx, name, s)
	time.Sleep(delay)
	return side{made, delay}, err
}

// side is a sessions.Context that delays its answers.
type side struct {
	sessions.Context
	delay time.Duration
}

func (s side) Configure(ctx context.Context, settings sessions.Settings) error {
	err := s.Context.Configure(ctx, settings)
	time.Sleep(s.delay)
	return err
}

// Ping ignores ctx while the browser hangs, as with a full pipe.
func (e *engine) Ping(ctx context.Context) error {
	e.mu.Lock()
	hung := e.hung
	e.mu.Unlock()
	if hung != nil {
		<-hung
	}
	return ctx.Err()
}

func (e *engine) CookieVersion(session string) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stirs[session]
}

func (e *engine) Cookies(ctx context.Context, session string) ([]sessions.Cookie, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[session]++
	return slices.Clone(e.cookies[session]), ctx.Err()
}

// set sets cookies in a session, as its pages do.
func (e *engine) set(session string, cookies ...sessions.Cookie) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stirs[session]++
	e.cookies[session] = cookies
}

// die ends the browser as a crash does.
func (e *engine) die() {
	e.mu.Lock()
	was := e.dead
	e.dead = true
	if e.hung != nil {
		close(e.hung)
		e.hung = nil
	}
	e.mu.Unlock()
	if was {
		return
	}
	close(e.done)
	e.Browser.Die()
}

// hang makes the browser stop answering.
func (e *engine) hang() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hung == nil && !e.dead {
		e.hung = make(chan struct{})
	}
}

func (e *engine) Kill() {
	e.mu.Lock()
	e.killed = true
	e.mu.Unlock()
	e.die()
}

func (e *engine) Close(context.Context) error {
	e.mu.Lock()
	stubborn := e.stubborn && !e.dead
	e.closed++
	e.mu.Unlock()
	if stubborn {
		<-e.done
	}
	e.die()
	return nil
}

// world is a Pool of fake browsers.
type world struct {
	*testing.T
	*browserpool.Pool
	mu sync.Mutex
	// made contains the browsers of each slot, oldest first. refuse contains the error for the starts of each slot.
	made   [][]*engine
	refuse []error
	starts [][]time.Time
	// prepare is called with each started browser.
	prepare func(*engine)
	ended   bool
}

// end closes the pool, once.
func (w *world) end(ctx context.Context) error {
	if w.ended {
		return nil
	}
	w.ended = true
	return w.Close(ctx)
}

// withBrowsers runs a test on n browsers in fake time. The test fails if a goroutine is left at its end, or if a browser was not closed
// exactly once.
func withBrowsers(t *testing.T, n int, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, made: make([][]*engine, n), refuse: make([]error, n), starts: make([][]time.Time, n)}
		var err error
		if w.Pool, err = browserpool.Start(t.Context(), browserpool.Config{Starters: w.starters(), Warm: 2}); err != nil {
			t.Fatal(err)
		}
		test(t, w)
		if err := w.end(t.Context()); err != nil {
			t.Error(err)
		}
		for slot, engines := range w.made {
			for i, e := range engines {
				if e.closed != 1 {
					t.Errorf("browser %d of slot %d was closed %d times", i, slot, e.closed)
				}
			}
		}
		if _, open := <-w.Pages(); open {
			t.Error("the pages do not end")
		}
	})
}

func (w *world) starters() []browserpool.Starter {
	var all []browserpool.Starter
	for slot := range w.made {
		all = append(all, func(context.Context) (browserpool.Engine, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.starts[slot] = append(w.starts[slot], time.Now())
			if err := w.refuse[slot]; err != nil {
				return nil, err
			}
			e := newEngine()
			if w.prepare != nil {
				w.prepare(e)
			}
			w.made[slot] = append(w.made[slot], e)
			return e, nil
		})
	}
	return all
}

// newest returns the last started browser of a slot, and the number of all its browsers.
func (w *world) newest(slot int) (e *engine, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.made[slot])
	return w.made[slot][n-1], n
}

// kill makes the browser of a slot die.
func (w *world) kill(slot int) {
	e, _ := w.newest(slot)
	e.die()
}

// fail makes all later starts of a slot fail with err. With nil, they succeed again.
func (w *world) fail(slot int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse[slot] = err
}

// ready waits until the browser of a session runs.
func (w *world) ready(session string) {
	w.Helper()
	if err := w.Ready(w.Context(), session); err != nil {
		w.Fatalf("session %q: %v", session, err)
	}
}

func (w *world) create(name string, settings sessions.Settings) sessions.Context {
	w.Helper()
	c, err := w.NewContext(w.Context(), name, settings)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// lost checks that an error reports a lost browser and the delay before a retry.
func (w *world) lost(err error) {
	w.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Kind != apierr.Lost || e.RetryAfter <= 0 {
		w.Errorf("error is %v, want an *Error of kind Lost that says when to try again", err)
	}
}
