// Package sessions owns the sessions: isolated worlds of the browser with their own cookies and storage, in
// which the tabs of a Pool live.
//
// What it guarantees:
//
//   - A session named `default` exists always. The others are made by Create and end by Close, or with the browser.
//   - Changes of one session (Update, SetState, Close) run one at a time; sessions do not wait for each other.
//   - Close refuses what comes after it, ends what is under way, closes the tabs and then the browser's side. It is
//     finished also when its caller does not wait.
//   - A call returns when its context ends. Nothing runs while nobody calls.
//
// Callers open tabs by Open, and owe Wait at the end, after Pool.Close.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
)

// Default is the name of the session that exists always.
const Default = actor.DefaultSession

// closeBound is how long the browser may take to end a session that nobody waits for any more.
const closeBound = 15 * time.Second

// Browser makes the browser's side of sessions. The production implementation is package browser; tests use a fake.
type Browser interface {
	// NewContext makes an isolated context, in which actor.Browser.NewPage then opens pages under the name.
	NewContext(ctx context.Context, name string, s Settings) (Context, error)
	// DefaultContext is the one that exists always, under the name Default.
	DefaultContext() Context
}

// Context is the browser's side of one session. Its methods are safe for concurrent use.
type Context interface {
	// Configure replaces the settings, for pages that are open too. A page that hangs gets them when it answers.
	Configure(ctx context.Context, s Settings) error
	// State reads cookies, and the local storage of the origins that were visited.
	State(ctx context.Context) (State, error)
	// SetState adds to them; with replace, everything that is stored is forgotten first. The local storage of an
	// origin is there before the first script of its next document.
	SetState(ctx context.Context, s State, replace bool) error
	// Downloads is the folder that its pages download into; empty: the browser decides that.
	Downloads() string
	// Close forgets everything, and closes the pages that are left. With keep, what was downloaded stays.
	Close(ctx context.Context, keep bool) error
}

// Mortal is implemented by a Context whose browser may die and be started again.
type Mortal interface {
	// Life does not wait.
	Life() Life
}

// Life is how a session lives.
type Life struct {
	// Browser names the browser that the session lives in; empty: the only or first one.
	Browser string
	// Restarts counts how often that was started anew since the session was made. Each time its tabs ended, and what it
	// had stored was lost but for the cookies.
	Restarts int
	// Down says that the browser is being started.
	Down bool
}

// Config tunes the sessions. The zero value is usable.
type Config struct {
	// Max is how many sessions there may be at once, the default one included; 0: 50. An empty one costs the
	// browser next to nothing, one with a tab about 30 MB.
	Max int
	// Quota says which client's a session is, and how many that one may have, so that it leaves room for others. No name, or
	// nil: nobody's, as many as Max allows.
	Quota func(id string) (client string, sessions int)
	// Logger takes what nobody can be told otherwise; nil: nobody.
	Logger *slog.Logger
}

// Sessions is the registry. Its methods are safe for concurrent use.
type Sessions struct {
	pool    *actor.Pool
	browser Browser
	cfg     Config
	// closing counts sessions that are being closed.
	closing sync.WaitGroup

	mu sync.Mutex
	// all are the sessions, the default one first, then oldest first; also those that begin or end.
	all []*session
	// made counts the sessions whose names were made here.
	made int
}

// session is one session.
type session struct {
	id string
	// world is nil until the session is made.
	world Context
	// turn holds the one token that a change of the session takes.
	turn chan struct{}
	// ended is done when the session is closed; it ends what is under way.
	ended context.Context
	end   context.CancelCauseFunc
	// opening counts tabs that are being opened.
	opening sync.WaitGroup

	// ready and settings are guarded by Sessions.mu.
	ready bool
	// users counts those who use it, and used is when the last use ended, or it began.
	users    int
	used     time.Time
	settings Settings
}

// Info is what is known of a session.
type Info struct {
	ID string
	// Settings are without the password.
	Settings Settings
	// Tabs is how many of its tabs are open.
	Tabs int
	// Downloads is the folder that its pages download into, or empty.
	Downloads string
	Life      Life
}

// New makes the registry of a pool. A nil browser has the default session only, and that without settings.
func New(pool *actor.Pool, browser Browser, cfg Config) *Sessions {
	if cfg.Max <= 0 {
		cfg.Max = 50
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Sessions{pool: pool, browser: browser, cfg: cfg}
	first := newSession(Default)
	first.ready = true
	first.settings.Dialogs = pool.DialogPolicy(Default)
	if browser != nil {
		first.world = browser.DefaultContext()
	}
	s.all = []*session{first}
	return s
}

func newSession(id string) *session {
	one := &session{id: id, turn: make(chan struct{}, 1)}
	one.ended, one.end = context.WithCancelCause(context.Background())
	return one
}

// Create makes a session and loads the state. An empty id lets it choose one. Errors are *actor.Error of kind Exists
// when the id is in use, Exhausted when there are too many sessions, and those of the browser; then nothing is left.
func (s *Sessions) Create(ctx context.Context, id string, settings Settings, state State) (Info, error) {
	if s.browser == nil {
		return Info{}, actor.Errorf(actor.Lost, "this daemon has no browser that makes sessions: use the default one")
	}
	one, err := s.reserve(id)
	if err != nil {
		return Info{}, err
	}
	world, err := s.browser.NewContext(ctx, one.id, settings)
	if err == nil {
		if len(state.Cookies) > 0 || len(state.Origins) > 0 {
			err = world.SetState(ctx, state, false)
		}
		if err == nil && ctx.Err() != nil { // nobody would hear of it
			err = context.Cause(ctx)
		}
		if err != nil {
			err = s.discard(ctx, world, err)
		}
	}
	if err != nil {
		s.giveBack(ctx, one, err)
		return Info{}, fmt.Errorf("create session %s: %w", one.id, err)
	}
	s.pool.SetDialogPolicy(one.id, settings.Dialogs)
	s.mu.Lock()
	one.world, one.settings, one.ready, one.used = world, settings, true, time.Now()
	s.mu.Unlock()
	return s.info(one), nil
}

// discard closes the browser's side of a session that nobody has seen, because of an error, which it returns. When ctx ends
// first, that is an *actor.Unfinished.
func (s *Sessions) discard(ctx context.Context, world Context, why error) error {
	removed := make(chan struct{})
	s.closing.Go(func() {
		defer close(removed)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		if err := world.Close(bounded, false); err != nil {
			s.cfg.Logger.Warn("a session that could not be made was not closed as it should be", "err", err)
		}
	})
	select {
	case <-removed:
		return why
	case <-ctx.Done():
		return &actor.Unfinished{Err: why, Removed: removed}
	}
}

// giveBack gives back the place of a session that could not be made, when nothing of it is left in the browser, or that takes
// too long.
func (s *Sessions) giveBack(ctx context.Context, one *session, err error) {
	left := actor.Leftover(err)
	if left == nil {
		s.remove(one)
		return
	}
	s.closing.Go(func() {
		defer s.remove(one)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		select {
		case <-left:
		case <-bounded.Done():
		}
	})
}

// reserve takes a place for a new session.
func (s *Sessions) reserve(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= s.cfg.Max {
		return nil, actor.Exceeded("sessions", s.cfg.Max, "there are %d sessions, which is the limit: close one first, or raise --max-sessions", len(s.all))
	}
	if err := s.withinQuota(id); err != nil {
		return nil, err
	}
	for id == "" || id != "" && s.index(id) >= 0 {
		if id != "" && !s.chosen(id) {
			return nil, actor.Errorf(actor.Exists, "there is a session %q already: use it, close it, or choose another id", id)
		}
		s.made++
		id = "s" + strconv.Itoa(s.made)
	}
	one := newSession(id)
	s.all = append(s.all, one)
	return one, nil
}

// withinQuota refuses a session more of a client that has as many as it may; the caller holds the lock.
func (s *Sessions) withinQuota(id string) error {
	if s.cfg.Quota == nil {
		return nil
	}
	client, most := s.cfg.Quota(id)
	if client == "" {
		return nil
	}
	has := 0
	for _, one := range s.all {
		if whose, _ := s.cfg.Quota(one.id); whose == client {
			has++
		}
	}
	if has < most {
		return nil
	}
	err := actor.Exceeded("sessions_per_client", most, "this client has %d sessions, which is the limit: close one first, or raise --max-sessions-per-client", has)
	err.Client = client
	return err
}

// chosen reports whether an id is the one that was made last; the caller holds the lock.
func (s *Sessions) chosen(id string) bool { return id == "s"+strconv.Itoa(s.made) }

// index finds a session, also one that begins or ends; the caller holds the lock.
func (s *Sessions) index(id string) int {
	return slices.IndexFunc(s.all, func(one *session) bool { return one.id == id })
}

func (s *Sessions) remove(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(other *session) bool { return other == one })
}

// find finds a session that is ready; an empty id is the default one's.
func (s *Sessions) find(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookup(id)
}

// lookup is find for who holds the lock.
func (s *Sessions) lookup(id string) (*session, error) {
	if id == "" {
		id = Default
	}
	if i := s.index(id); i >= 0 && s.all[i].ready {
		s.all[i].used = time.Now()
		return s.all[i], nil
	}
	return nil, actor.Unknown("session", "there is no session %q: list the sessions, or create it", id)
}

// Has fails with an *actor.Error of kind NotFound when there is no such session; an empty id is the default one's.
func (s *Sessions) Has(id string) error {
	_, err := s.find(id)
	return err
}

// List lists the sessions, the default one first, then oldest first.
func (s *Sessions) List() []Info {
	s.mu.Lock()
	ready := slices.DeleteFunc(slices.Clone(s.all), func(one *session) bool { return !one.ready })
	s.mu.Unlock()
	var list []Info
	for _, one := range ready {
		list = append(list, s.info(one))
	}
	return list
}

func (s *Sessions) info(one *session) Info {
	s.mu.Lock()
	i := Info{ID: one.id, Settings: one.settings}
	world := one.world
	s.mu.Unlock()
	if world != nil {
		i.Downloads = world.Downloads()
		if mortal, ok := world.(Mortal); ok {
			i.Life = mortal.Life()
		}
	}
	if c := i.Settings.Credentials; c != nil {
		i.Settings.Credentials = &Credentials{Username: c.Username, Origin: c.Origin}
	}
	for _, t := range s.pool.Tabs() {
		if t.Session() == one.id {
			i.Tabs++
		}
	}
	return i
}

// Open is Pool.Open in a session; an *actor.Error of kind NotFound when there is no such session.
func (s *Sessions) Open(ctx context.Context, o actor.OpenOptions) (*actor.Tab, error) {
	s.mu.Lock()
	one, err := s.lookup(o.Session)
	var release func()
	if err == nil {
		one.opening.Add(1)
		release = s.hold(one)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer one.opening.Done()
	defer release()
	ctx, cancel := one.within(ctx)
	defer cancel()
	o.Session = one.id
	tab, err := s.pool.Open(ctx, o)
	return tab, one.blame(err)
}

// within bounds ctx by the life of the session.
func (one *session) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(one.ended, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// blame says that the session was closed when that is why a call failed.
func (one *session) blame(err error) error {
	if err != nil && one.ended.Err() != nil {
		return context.Cause(one.ended)
	}
	return err
}

// change runs one change of a session at a time.
func (s *Sessions) change(ctx context.Context, id string, do func(context.Context, *session) error) error {
	s.mu.Lock()
	one, err := s.lookup(id)
	var release func()
	if err == nil {
		release = s.hold(one)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	defer release()
	if one.world == nil {
		return actor.Errorf(actor.Lost, "this daemon has no browser whose sessions can be changed")
	}
	ctx, cancel := one.within(ctx)
	defer cancel()
	select {
	case one.turn <- struct{}{}:
	case <-ctx.Done():
		return one.blame(fmt.Errorf("session %s is busy with another change: try again: %w", one.id, ctx.Err()))
	}
	defer func() { <-one.turn }()
	return one.blame(do(ctx, one))
}

// Update replaces the settings of a session, for its open tabs too.
func (s *Sessions) Update(ctx context.Context, id string, settings Settings) (Info, error) {
	var info Info
	err := s.change(ctx, id, func(ctx context.Context, one *session) error {
		if err := s.keepsMask(one, settings); err != nil {
			return err
		}
		if err := one.world.Configure(ctx, settings); err != nil {
			return fmt.Errorf("change session %s: %w", one.id, err)
		}
		s.mu.Lock()
		one.settings = settings
		s.mu.Unlock()
		s.pool.SetDialogPolicy(one.id, settings.Dialogs)
		info = s.info(one)
		return nil
	})
	return info, err
}

// State reads what a session has stored.
func (s *Sessions) State(ctx context.Context, id string) (state State, err error) {
	err = s.change(ctx, id, func(ctx context.Context, one *session) error {
		state, err = one.world.State(ctx)
		return err
	})
	return state, err
}

// SetState stores something in a session; with replace, all that is there is forgotten first.
func (s *Sessions) SetState(ctx context.Context, id string, state State, replace bool) error {
	return s.change(ctx, id, func(ctx context.Context, one *session) error { return one.world.SetState(ctx, state, replace) })
}

// Close closes a session with its tabs, also while they hang, and forgets what it stored. When ctx ends first, that
// goes on without the caller. The default session cannot be closed.
func (s *Sessions) Close(ctx context.Context, id string, keep bool) error {
	if id == Default || id == "" {
		return &actor.Error{
			Kind: actor.Invalid, Field: "session_id",
			Message: "the session named " + Default + " cannot be closed: close its tabs, or replace its storage state",
		}
	}
	s.mu.Lock()
	one, err := s.lookup(id)
	var closed <-chan error
	if err == nil {
		closed = s.end(ctx, one, actor.Errorf(actor.Closed, "session %q was closed meanwhile: create another", id), keep)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("session %s is closed, but the browser has not let go of it yet: %w", id, ctx.Err())
	}
}

// end begins to close a session, for a reason; the caller holds the lock.
func (s *Sessions) end(ctx context.Context, one *session, why *actor.Error, keep bool) <-chan error {
	one.ready = false // from now on nobody finds it
	s.closing.Add(1)
	one.end(why)
	closed := make(chan error, 1)
	go func() {
		defer s.closing.Done()
		closed <- s.finish(context.WithoutCancel(ctx), one, keep)
	}()
	return closed
}

// finish closes what a session has, when nothing of it is under way any more.
func (s *Sessions) finish(ctx context.Context, one *session, keep bool) error {
	defer s.remove(one)
	ctx, cancel := context.WithTimeout(ctx, closeBound)
	defer cancel()
	one.opening.Wait()
	one.turn <- struct{}{}
	tabs := s.pool.CloseSession(ctx, one.id)
	err := one.world.Close(ctx, keep)
	s.pool.ForgetDownloads(one.id)
	s.pool.SetDialogPolicy(one.id, actor.ReportDialogs)
	if err != nil {
		err = fmt.Errorf("close session %s: %w", one.id, err)
	}
	if err = errors.Join(tabs, err); err != nil {
		s.cfg.Logger.Warn("a session was not closed as it should be", "session", one.id, "err", err)
	}
	return err
}

// Wait waits until the sessions that were closed have ended.
func (s *Sessions) Wait() { s.closing.Wait() }
