// Package browserpool is a pool of browsers that looks like one browser. It starts the browsers, restarts those
// that die or hang, and distributes the sessions among them.
//
// What the package guarantees:
//
//   - Each browser has a slot. The slot's goroutine starts the browser, monitors it and starts it again,
//     until the pool is closed, with the delays of type backoff. A browser that does not answer for
//     Config.HangTimeout is killed. No slot waits for another.
//   - When a browser dies, its pages end with driver.Gone and an error, and calls that need the browser
//     fail with an *apierr.Error of kind Lost that says when to try again. Pages of other browsers notice
//     nothing.
//   - A session stays in one slot, the default session in the first. After a restart the session is there
//     under its name, with its settings, and with the cookies that it had a few seconds before the end:
//     before Ready returns, and before a page can be opened in it. Everything else that the session stored
//     is lost with a browser, unless the browser has a profile that is kept.
//   - Nothing runs after Close.
//
// Callers owe Close, once, after the tabpool.Pool that uses the browsers is closed.
package browserpool

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/sessions"
)

// Engine is one browser that runs. The production implementation is *browser.Browser; tests use a fake. Its
// methods are safe for concurrent use, and those without a context do not wait.
type Engine interface {
	sessions.Browser
	// NewPage is that of actor.Browser.
	NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error)
	// DeliverTo says where popups go; it is called before the first page is opened.
	DeliverTo(popups chan<- driver.Popup)
	// KeepWarm says how many sessions are kept ready.
	KeepWarm(n int)
	// Version is the name and version that the browser reports.
	Version() string
	// OpenPages is how many pages are open.
	OpenPages() int
	// Done is closed when the browser is gone. Running is false from then on, and already before the first
	// page reports that it is gone.
	Done() <-chan struct{}
	Running() bool
	// Ping returns when the browser process has answered. It may return late, but after Kill at once.
	Ping(ctx context.Context) error
	// CookieVersion is a counter that grows whenever the cookies of a session may have changed; Cookies reads the
	// cookies.
	CookieVersion(session string) uint64
	Cookies(ctx context.Context, session string) ([]sessions.Cookie, error)
	// Kill ends the browser at once; pages and calls end as when it crashes.
	Kill()
	// Close ends the browser and returns when nothing of it is left; Close is owed also when the browser is
	// gone.
	Close(ctx context.Context) error
}

// Starter starts one browser; ctx bounds the start only. It is called by one goroutine at a time.
type Starter func(ctx context.Context) (Engine, error)

// Config sets up a Pool.
type Config struct {
	// Starters start the browsers, one for each slot.
	Starters []Starter
	// Warm is how many sessions each browser keeps ready.
	Warm int
	// HangTimeout is how long a browser may leave a ping unanswered before it is killed; 0: 15 s.
	HangTimeout time.Duration
	// Logger gets starts and ends of browsers; nil: nothing is logged.
	Logger *slog.Logger
}

const (
	// startBound is how long a browser may take to start, and to get its sessions back.
	startBound = time.Minute
	// firstBound is how long Start waits for the browsers beside the first.
	firstBound = 10 * time.Second
	// closeBound is how long a browser may take to end before it is killed.
	closeBound = 10 * time.Second
	// startGuess is about how long a browser takes to start.
	startGuess = time.Second
)

// Pool is a number of browsers. Its methods are safe for concurrent use. It implements driver.Browser and
// sessions.Browser.
type Pool struct {
	hangTimeout time.Duration
	warm        int
	logger      *slog.Logger
	slots       []*slot
	popups      chan driver.Popup

	ctx context.Context
	end context.CancelFunc
	// running counts the goroutines of the slots, and the goroutines that the slots start.
	running sync.WaitGroup

	mu sync.Mutex
	// sessions are the sessions by name, with the default one.
	sessions map[string]*session
	// changed is closed and replaced when a slot comes up or goes down.
	changed chan struct{}
	// restarts counts the browsers that were started again.
	restarts int
	// errs are the errors of browsers that were closed after Close began.
	errs []error

	observersMu sync.Mutex
	observers   []func(up int)
}

// Start starts the browsers. It returns when the first browser runs, and each other one runs, could not be
// started yet, or has had firstBound. When the first browser cannot be started, nothing is left and the error
// says why. ctx bounds the start only.
func Start(ctx context.Context, cfg Config) (*Pool, error) {
	if len(cfg.Starters) == 0 {
		return nil, errors.New("a pool needs a browser")
	}
	f := &Pool{
		hangTimeout: cmp.Or(cfg.HangTimeout, 15*time.Second), warm: cfg.Warm, logger: cfg.Logger, popups: make(chan driver.Popup, 64),
		sessions: map[string]*session{}, changed: make(chan struct{}),
	}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	f.ctx, f.end = context.WithCancel(context.WithoutCancel(ctx))
	for i, start := range cfg.Starters {
		f.slots = append(f.slots, newSlot(f, i, start))
	}
	f.sessions[sessions.Default] = &session{pool: f, slot: f.slots[0], name: sessions.Default}
	for _, s := range f.slots {
		f.running.Go(s.run)
	}
	if err := f.awaitFirst(ctx); err != nil {
		return nil, errors.Join(err, f.Close(ctx))
	}
	return f, nil
}

// awaitFirst waits for the first start of each browser.
func (f *Pool) awaitFirst(ctx context.Context) error {
	select {
	case err := <-f.slots[0].first:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, firstBound)
	defer cancel()
	for _, s := range f.slots[1:] {
		select {
		case <-s.first: // what went wrong is in the log
		case <-bounded.Done():
		}
	}
	return context.Cause(ctx)
}

// Close ends the browsers and returns when nothing of them is left. When ctx ends first, the browsers are
// killed.
func (f *Pool) Close(ctx context.Context) error {
	f.end()
	stop := context.AfterFunc(ctx, f.kill)
	defer stop()
	// Nobody takes popups any more, but a page ends only when somebody reads its events.
	var drained, left sync.WaitGroup
	drained.Go(func() {
		for popup := range f.popups {
			left.Go(func() {
				for range popup.Page.Events() {
				}
			})
		}
	})
	f.running.Wait()
	close(f.popups)
	drained.Wait()
	left.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// kill ends every browser at once.
func (f *Pool) kill() {
	f.mu.Lock()
	var engines []Engine
	for _, s := range f.slots {
		if s.owned != nil {
			engines = append(engines, s.owned)
		}
	}
	f.mu.Unlock()
	for _, e := range engines {
		e.Kill()
	}
}

// NewPage implements driver.Browser. While the session's browser is down, NewPage fails with an *apierr.Error
// of kind Lost.
func (f *Pool) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	s, err := f.find(o.Session)
	if err != nil {
		return nil, err
	}
	o.Session = s.name
	f.mu.Lock()
	e := s.slot.engine
	_, err = s.current()
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	page, err := e.NewPage(ctx, o)
	if err != nil {
		return nil, s.explain(err)
	}
	return page, nil
}

// Pages implements driver.Browser. Close closes the channel.
func (f *Pool) Pages() <-chan driver.Popup { return f.popups }

// Ready implements driver.Browser.
func (f *Pool) Ready(ctx context.Context, name string) error {
	for {
		s, err := f.find(name)
		if err != nil {
			return err
		}
		f.mu.Lock()
		_, err = s.current()
		broken, changed := s.broken, f.changed
		f.mu.Unlock()
		if err == nil || broken != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.ctx.Done():
			return errStopping
		}
	}
}

// errStopping says that no browser will be started again.
var errStopping = apierr.Errorf(apierr.Lost, "the daemon is stopping: connect again later")

// Owner implements driver.Browser: empty for the first slot, and b1, b2… for the others.
func (f *Pool) Owner(name string) string {
	s, err := f.find(name)
	if err != nil {
		return ""
	}
	return s.slot.name
}

// DefaultContext implements sessions.Browser.
func (f *Pool) DefaultContext() sessions.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[sessions.Default]
}

// NewContext implements sessions.Browser: it makes the session in the slot with the least load.
func (f *Pool) NewContext(ctx context.Context, name string, settings sessions.Settings) (sessions.Context, error) {
	tried := map[*slot]bool{}
	for {
		s, e, generation, err := f.chooseSlot(tried)
		if err != nil {
			return nil, err
		}
		made, err := e.NewContext(ctx, name, settings)
		one := &session{pool: f, slot: s, name: name, inner: made, settings: settings}
		if err == nil && f.register(one, generation) {
			return one, nil
		}
		if err == nil { // the browser died just now
			discard(ctx, made)
		} else if !apierr.Is(err, apierr.Lost) || ctx.Err() != nil {
			f.notMade(s)
			return nil, err
		}
		f.notMade(s)
		tried[s] = true
	}
}

// chooseSlot chooses the slot that is up and has the fewest pages and sessions, the first of those. The
// caller owes notMade or register.
func (f *Pool) chooseSlot(not map[*slot]bool) (best *slot, e Engine, generation int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, nil, 0, errStopping
	}
	least := 0
	for _, s := range f.slots {
		if load := s.load(); s.up() && !not[s] && (best == nil || load < least) {
			best, least = s, load
		}
	}
	if best == nil {
		soonest := f.slots[0]
		for _, s := range f.slots {
			if s.retryIn() < soonest.retryIn() {
				soonest = s
			}
		}
		return nil, nil, 0, soonest.down("no browser runs")
	}
	best.making++
	return best, best.engine, best.generation, nil
}

// notMade says that no session was made in the slot that chooseSlot chose.
func (f *Pool) notMade(s *slot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.making--
}

// register adds a session that was made in one generation of its slot; false when that browser is gone.
func (f *Pool) register(one *session, generation int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.slot.generation != generation || one.slot.engine == nil {
		return false
	}
	one.slot.making--
	f.sessions[one.name] = one
	return true
}

// find finds a session; empty: the default one.
func (f *Pool) find(name string) (*session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[cmp.Or(name, sessions.Default)]; s != nil {
		return s, nil
	}
	return nil, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", name)
}

// sessionsOf lists the sessions of a slot by name; the caller holds the lock.
func (f *Pool) sessionsOf(s *slot) []*session {
	var list []*session
	for _, one := range f.sessions {
		if one.slot == s {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *session) int { return cmp.Compare(a.name, b.name) })
	return list
}

// Up is how many browsers run.
func (f *Pool) Up() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.slots {
		if s.up() {
			n++
		}
	}
	return n
}

// Restarts counts the browsers that were started again.
func (f *Pool) Restarts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.restarts
}

// CopiedCookies is how many cookies of a session are kept for the next browser.
func (f *Pool) CopiedCookies(name string) int {
	s, err := f.find(name)
	if err != nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(s.copy.cookies)
}

// OnChange calls observe with how many browsers run: now, and whenever that may have changed. The calls do
// not overlap; observe must not wait.
func (f *Pool) OnChange(observe func(up int)) {
	f.observersMu.Lock()
	defer f.observersMu.Unlock()
	f.observers = append(f.observers, observe)
	observe(f.Up())
}

// reportUp calls the observers.
func (f *Pool) reportUp() {
	f.observersMu.Lock()
	defer f.observersMu.Unlock()
	up := f.Up()
	for _, observe := range f.observers {
		observe(up)
	}
}

// slotName is how tab ids name a slot.
func slotName(index int) string {
	if index == 0 {
		return ""
	}
	return "b" + strconv.Itoa(index)
}

// discard closes a browser context that nobody uses.
func discard(ctx context.Context, c sessions.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	_ = c.Close(ctx, false) // it ends with its browser in any case
}
