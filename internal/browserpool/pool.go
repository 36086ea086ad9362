// Package browserpool manages a pool of browsers that acts as a single browser. It starts the browsers, restarts browsers that die or hang,
// and distributes the sessions among them.
//
// What the package guarantees:
//
//   - Each browser has a slot. The slot's goroutine starts the browser, monitors it and restarts it, with the delays of type backoff, until
//     the pool is closed. A browser that does not answer for Config.HangTimeout is killed. No slot waits for another.
//   - When a browser dies, its pages end with driver.Gone and an error. Calls that need the browser fail with an *apierr.Error of kind Lost
//     that contains the delay before a retry. Pages of other browsers are not affected.
//   - A session stays in one slot. The default session is in the first slot. After a restart, the session is restored under its name, with
//     its settings and with the cookies that it had a few seconds before the end. It is restored before Ready returns and before a page can
//     be opened in it. All other data that the session stored is lost with the browser, unless the browser has a persistent profile.
//   - Nothing runs after Close.
//
// Callers must call Close once, after they have closed the tabpool.Pool that uses the browsers.
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

// Engine is one running browser. The production implementation is *browser.Browser; tests use a fake. Its methods are safe for concurrent
// use. Methods without a context do not block.
type Engine interface {
	sessions.Browser
	// NewPage implements driver.Browser.
	NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error)
	// OtherPages implements driver.Browser.
	OtherPages(ctx context.Context) ([]driver.OtherPage, error)
	// DeliverTo sets the channel for popups. It is called before the first page is opened.
	DeliverTo(popups chan<- driver.Popup)
	// KeepWarm sets the number of sessions to keep ready.
	KeepWarm(n int)
	// Version returns the name and version that the browser reports.
	Version() string
	// OpenPages returns the number of open pages.
	OpenPages() int
	// Done returns a channel that is closed when the browser is gone. Running reports whether the browser runs. It returns false once Done
	// is closed, and already before the first page reports that it is gone.
	Done() <-chan struct{}
	Running() bool
	// Ping returns when the browser process has answered. It may ignore the end of ctx, but returns immediately after Kill.
	Ping(ctx context.Context) error
	// CookieVersion returns a counter that increases whenever the cookies of a session may have changed. Cookies reads the cookies.
	CookieVersion(session string) uint64
	Cookies(ctx context.Context, session string) ([]sessions.Cookie, error)
	// Kill ends the browser immediately. Pages and calls end as after a crash.
	Kill()
	// Close ends the browser and returns when nothing remains of it. It must be called even if the browser is gone.
	Close(ctx context.Context) error
}

// Starter starts one browser. ctx bounds only the start. It is called by one goroutine at a time.
type Starter func(ctx context.Context) (Engine, error)

// Config sets up a Pool.
type Config struct {
	// Starters start the browsers, one for each slot.
	Starters []Starter
	// Warm is the number of sessions that each browser keeps ready.
	Warm int
	// HangTimeout is how long a browser may leave a ping unanswered before it is killed. Zero selects 15 s.
	HangTimeout time.Duration
	// Logger logs starts and ends of browsers. If nil, nothing is logged.
	Logger *slog.Logger
}

const (
	// startBound limits the time to start a browser and to restore its sessions.
	startBound = time.Minute
	// firstBound limits how long Start waits for all browsers but the first.
	firstBound = 10 * time.Second
	// closeBound limits how long a browser may take to end before it is killed.
	closeBound = 10 * time.Second
	// startGuess is the estimated time to start a browser.
	startGuess = time.Second
)

// Pool is a set of browsers. It implements driver.Browser and sessions.Browser. Its methods are safe for concurrent use.
type Pool struct {
	hangTimeout time.Duration
	warm        int
	logger      *slog.Logger
	slots       []*slot
	popups      chan driver.Popup

	ctx context.Context
	end context.CancelFunc
	// running counts the goroutines of the slots and the goroutines that they start.
	running sync.WaitGroup

	mu sync.Mutex
	// sessions maps names to sessions, including the default session.
	sessions map[string]*session
	// changed is closed and replaced when a slot comes up or goes down.
	changed chan struct{}
	// restarts counts the restarts of browsers.
	restarts int
	// errs contains the errors of browsers that were closed after the start of Close.
	errs []error

	observersMu sync.Mutex
	observers   []func(up int)
}

// Start starts the browsers. It waits for the first browser to run, and up to firstBound for the first start of each other browser. If the
// first browser cannot be started, Start ends all browsers and returns the error. ctx bounds only the start.
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
		case <-s.first: // errors are in the log
		case <-bounded.Done():
		}
	}
	return context.Cause(ctx)
}

// Close ends the browsers and returns when nothing remains of them. If ctx ends first, the browsers are killed.
func (f *Pool) Close(ctx context.Context) error {
	f.end()
	stop := context.AfterFunc(ctx, f.kill)
	defer stop()
	// A page ends only if its events are read, so drain the popups that no tab receives any more.
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

// kill ends all browsers immediately.
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

// OtherPages implements driver.Browser.
func (f *Pool) OtherPages(ctx context.Context) ([]driver.OtherPage, error) {
	s, err := f.find(driver.DefaultSession)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	e := s.slot.engine
	_, err = s.current()
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	others, err := e.OtherPages(ctx)
	return others, s.explain(err)
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

// errStopping means that no browser will be started again.
var errStopping = apierr.Errorf(apierr.Lost, "the daemon is stopping: connect again later")

// Owner implements driver.Browser. It returns an empty string for the first slot, and b1, b2… for the others.
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

// NewContext implements sessions.Browser. It creates the session in the slot with the least load.
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
			f.releaseSlot(s)
			return nil, err
		}
		f.releaseSlot(s)
		tried[s] = true
	}
}

// chooseSlot returns the running slot with the fewest pages and sessions. Of several, it returns the first. The caller must call
// releaseSlot or register.
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

// releaseSlot records that no session was created in a slot of chooseSlot.
func (f *Pool) releaseSlot(s *slot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.making--
}

// register adds a session that was created in the given generation of its slot. It returns false if that browser is gone.
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

// find returns the session with the given name. An empty name selects the default session.
func (f *Pool) find(name string) (*session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[cmp.Or(name, sessions.Default)]; s != nil {
		return s, nil
	}
	return nil, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", name)
}

// sessionsOf returns the sessions of a slot, sorted by name. The caller holds the lock.
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

// Up returns the number of running browsers.
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

// Restarts returns the number of restarts of browsers.
func (f *Pool) Restarts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.restarts
}

// CopiedCookies returns the number of a session's cookies that are kept for the next browser.
func (f *Pool) CopiedCookies(name string) int {
	s, err := f.find(name)
	if err != nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(s.copy.cookies)
}

// OnChange calls observe with the number of running browsers, now and whenever the number may have changed. The calls do not overlap.
// observe must not block.
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

// slotName returns the name of a slot in tab ids.
func slotName(index int) string {
	if index == 0 {
		return ""
	}
	return "b" + strconv.Itoa(index)
}

// discard closes an unused browser context.
func discard(ctx context.Context, c sessions.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	_ = c.Close(ctx, false) // the context ends with its browser in any case
}
