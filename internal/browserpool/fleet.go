// Package browserpool makes one browser of several, none of which has to live: it starts them, starts anew those that die or
// hang, and lays the sessions on them.
//
// What it guarantees:
//
//   - Each browser has a slot, and the slot a goroutine that starts the browser, watches it and starts it again, for as
//     long as the Fleet is open, with the delays that type backoff says. One that does not answer for Config.Patience is
//     killed. No slot waits for another.
//   - When a browser dies, the pages in it end with Gone and an error, and calls that need it fail with an *actor.Error
//     of kind Lost which says when to try again. Pages of other browsers notice nothing.
//   - A session lives in one slot for all its life, the default one in the first. When its browser comes back, it is
//     there under its name, with its settings, and with its cookies as they were a few seconds before the end, before
//     Ready returns and before a page can be opened in it. Everything else that it stored is lost with a browser, unless
//     the browser has a profile that is kept.
//   - Nothing runs after Close.
//
// Callers owe Close, once, after the actor.Pool that stands on the fleet.
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

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/sessions"
)

// Engine is one browser that runs. The production implementation is *browser.Browser; tests use a fake. Its methods are
// safe for concurrent use, and those without a context do not wait.
type Engine interface {
	sessions.Browser
	// NewPage is that of actor.Browser.
	NewPage(ctx context.Context, o actor.PageOptions) (actor.Page, error)
	// DeliverTo says where pages go that pages open themselves; it is called before the first page is opened.
	DeliverTo(popups chan<- actor.Popup)
	// KeepWarm says how many sessions are kept ready.
	KeepWarm(n int)
	// Version is what the browser calls itself.
	Version() string
	// OpenPages is how many pages are open.
	OpenPages() int
	// Done is closed when the browser is gone. Running is false from then on, and already before the first page says
	// that it is gone.
	Done() <-chan struct{}
	Running() bool
	// Ping returns when the browser, and not one of its pages, has answered. It may return late, but after Kill at once.
	Ping(ctx context.Context) error
	// Stirred grows whenever the cookies of a session may have changed; Cookies reads them.
	Stirred(session string) uint64
	Cookies(ctx context.Context, session string) ([]sessions.Cookie, error)
	// Kill ends the browser at once; pages and calls end as when it crashes.
	Kill()
	// Close ends it and returns when nothing of it is left; it is owed also when the browser is gone.
	Close(ctx context.Context) error
}

// Starter starts one browser; ctx bounds the start only. It is called by one goroutine at a time.
type Starter func(ctx context.Context) (Engine, error)

// Config sets up a Fleet.
type Config struct {
	// Starters start the browsers, one for each slot.
	Starters []Starter
	// Warm is how many sessions each browser keeps ready.
	Warm int
	// Patience is how long a browser may be silent before it counts as hung; 0: 15 s.
	Patience time.Duration
	// Logger gets the lives of the browsers; nil: nobody does.
	Logger *slog.Logger
}

const (
	// startBound is how long a browser may take to start, the sessions that it had included.
	startBound = time.Minute
	// firstBound is how long Start waits for the browsers beside the first.
	firstBound = 10 * time.Second
	// closeBound is how long a browser may take to end before it is killed.
	closeBound = 10 * time.Second
	// startGuess is about how long a browser takes to start.
	startGuess = time.Second
)

// Fleet is a number of browsers. Its methods are safe for concurrent use. It implements actor.Browser and
// sessions.Browser.
type Fleet struct {
	patience time.Duration
	warm     int
	logger   *slog.Logger
	slots    []*slot
	popups   chan actor.Popup

	ctx context.Context
	end context.CancelFunc
	// running are the goroutines of the slots and what those start.
	running sync.WaitGroup

	mu sync.Mutex
	// sessions are those that were made, by name; the default one is among them.
	sessions map[string]*session
	// changed is closed and replaced when a slot comes up or goes down.
	changed chan struct{}
	// restarts counts the browsers that were started again.
	restarts int
	// errs are those of the browsers that were closed at the end.
	errs []error

	telling sync.Mutex
	told    []func(up int)
}

// Start starts the browsers. It returns when the first runs, and the others do, could not be started yet, or have had
// their time. When the first cannot be started nothing is left, and the error says why. ctx bounds the start only.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	if len(cfg.Starters) == 0 {
		return nil, errors.New("a fleet needs a browser")
	}
	f := &Fleet{
		patience: cmp.Or(cfg.Patience, 15*time.Second), warm: cfg.Warm, logger: cfg.Logger, popups: make(chan actor.Popup, 64),
		sessions: map[string]*session{}, changed: make(chan struct{}),
	}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	f.ctx, f.end = context.WithCancel(context.WithoutCancel(ctx))
	for i, start := range cfg.Starters {
		f.slots = append(f.slots, newSlot(f, i, start))
	}
	f.sessions[sessions.Default] = &session{fleet: f, slot: f.slots[0], name: sessions.Default}
	for _, s := range f.slots {
		f.running.Go(s.run)
	}
	if err := f.begin(ctx); err != nil {
		return nil, errors.Join(err, f.Close(ctx))
	}
	return f, nil
}

// begin waits for the first starts.
func (f *Fleet) begin(ctx context.Context) error {
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

// Close ends the browsers and returns when nothing of them is left. When ctx ends first, they are killed.
func (f *Fleet) Close(ctx context.Context) error {
	f.end()
	stop := context.AfterFunc(ctx, f.kill)
	defer stop()
	// Nobody takes pages any more; each waits for somebody who hears that it is gone.
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
func (f *Fleet) kill() {
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

// NewPage implements actor.Browser. While the session's browser is down it fails with an *actor.Error of kind Lost.
func (f *Fleet) NewPage(ctx context.Context, o actor.PageOptions) (actor.Page, error) {
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
		return nil, s.blame(err)
	}
	return page, nil
}

// Pages implements actor.Browser. It is closed by Close.
func (f *Fleet) Pages() <-chan actor.Popup { return f.popups }

// Ready implements actor.Browser.
func (f *Fleet) Ready(ctx context.Context, name string) error {
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
			return errEnding
		}
	}
}

// errEnding says that no browser will be started again.
var errEnding = actor.Errorf(actor.Lost, "the daemon is stopping: connect again later")

// Owner implements actor.Browser: empty for the first slot, and b1, b2… for the others.
func (f *Fleet) Owner(name string) string {
	s, err := f.find(name)
	if err != nil {
		return ""
	}
	return s.slot.name
}

// DefaultContext implements sessions.Browser.
func (f *Fleet) DefaultContext() sessions.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[sessions.Default]
}

// NewContext implements sessions.Browser: it lays the session on the slot that has least to do.
func (f *Fleet) NewContext(ctx context.Context, name string, settings sessions.Settings) (sessions.Context, error) {
	tried := map[*slot]bool{}
	for {
		s, e, life, err := f.place(tried)
		if err != nil {
			return nil, err
		}
		made, err := e.NewContext(ctx, name, settings)
		one := &session{fleet: f, slot: s, name: name, inner: made, settings: settings}
		if err == nil && f.register(one, life) {
			return one, nil
		}
		if err == nil { // its browser died just now
			discard(ctx, made)
		} else if !isLost(err) || ctx.Err() != nil {
			f.leave(s)
			return nil, err
		}
		f.leave(s)
		tried[s] = true
	}
}

// place chooses the slot that is up and has the fewest pages and sessions, the first of those. The caller owes leave,
// or register.
func (f *Fleet) place(not map[*slot]bool) (best *slot, e Engine, life int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, nil, 0, errEnding
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
	return best, best.engine, best.life, nil
}

// leave ends what place began.
func (f *Fleet) leave(s *slot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.making--
}

// register takes in a session that was made in one life of its slot; false when that is over.
func (f *Fleet) register(one *session, life int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.slot.life != life || one.slot.engine == nil {
		return false
	}
	one.slot.making--
	f.sessions[one.name] = one
	return true
}

// find finds a session; empty: the default one.
func (f *Fleet) find(name string) (*session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[cmp.Or(name, sessions.Default)]; s != nil {
		return s, nil
	}
	return nil, actor.Unknown("session", "there is no session %q: list the sessions, or create it", name)
}

// of lists the sessions of a slot, in the order of their names; the caller holds the lock.
func (f *Fleet) of(s *slot) []*session {
	var list []*session
	for _, one := range f.sessions {
		if one.slot == s {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *session) int { return cmp.Compare(a.name, b.name) })
	return list
}

// Size is how many browsers there are to be.
func (f *Fleet) Size() int { return len(f.slots) }

// Up is how many browsers run.
func (f *Fleet) Up() int {
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
func (f *Fleet) Restarts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.restarts
}

// Kept is how many cookies of a session are kept for when its browser dies.
func (f *Fleet) Kept(name string) int {
	s, err := f.find(name)
	if err != nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(s.copy.cookies)
}

// Tell has a function called with how many browsers run: now, and whenever that may have changed. Its calls do not
// overlap; it must not wait.
func (f *Fleet) Tell(heed func(up int)) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.told = append(f.told, heed)
	heed(f.Up())
}

// tell calls those who want to know.
func (f *Fleet) tell() {
	f.telling.Lock()
	defer f.telling.Unlock()
	up := f.Up()
	for _, heed := range f.told {
		heed(up)
	}
}

// slotName is how tab ids name a slot.
func slotName(index int) string {
	if index == 0 {
		return ""
	}
	return "b" + strconv.Itoa(index)
}

func isLost(err error) bool {
	var e *actor.Error
	return errors.As(err, &e) && e.Kind == actor.Lost
}

// discard closes a context that nobody uses.
func discard(ctx context.Context, c sessions.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	_ = c.Close(ctx, false) // it ends with its browser in any case
}
