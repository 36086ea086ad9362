// Package sessions owns the sessions. A session is a browser context with its own cookies and storage,
// in which tabs of an tabpool.Pool live.
//
// What the package guarantees:
//
//   - A session named `default` always exists, unless there is a Registrar: then Create makes it like the others.
//     They end by Close, by Leave, or with the browser.
//   - Changes of one session (Update, SetState, Close) run one at a time; sessions do not wait for each
//     other.
//   - Close refuses later calls, ends calls that are under way, closes the tabs and then the browser
//     context. Close finishes its work also when its caller does not wait.
//   - A call returns when its context ends. Nothing runs while nobody calls.
//
// Callers open tabs by Open, and owe Wait at the end, after Pool.Close.
package sessions

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
)

// Default is the name of the session that exists always.
const Default = driver.DefaultSession

// Config tunes the sessions. The zero value is usable.
type Config struct {
	// Max is how many sessions there may be at once, the default one included; 0: 50. An empty session
	// costs the browser next to nothing, a session with a tab about 30 MB.
	Max int
	// Quota says which client a session belongs to, and how many sessions that client may have, so that
	// it leaves room for others. An empty client, or nil: as many as Max allows.
	Quota func(id string) (client string, sessions int)
	// Elsewhere is how many sessions a client has beyond these, which count against its Quota, too. It must not wait. Nil: none.
	Elsewhere func(client string) int
	// Registrar gives the sessions their names, in a cluster. Nil: the sessions are all that there are.
	Registrar Registrar
	// Logger takes what no caller can be told; nil: nothing is logged.
	Logger *slog.Logger
}

// Registrar knows the names of sessions beyond this process. Its methods are safe for concurrent use.
type Registrar interface {
	// Acquire takes a name, and calls create once it is taken. After an error, also that of create, the name is free again. The
	// error is an *apierr.Error of kind Exists when the name is in use elsewhere.
	Acquire(ctx context.Context, id string, create func(ctx context.Context) error) error
	// Release gives up the name of a session that was closed.
	Release(ctx context.Context, id string)
}

// Sessions makes, finds and closes the sessions of a pool. Its methods are safe for concurrent use.
type Sessions struct {
	pool    *tabpool.Pool
	browser Browser
	cfg     Config
	// closing counts sessions that are being closed.
	closing sync.WaitGroup

	mu sync.Mutex
	// registry holds the sessions; mu guards it.
	registry registry
}

// Info is what is known of a session.
type Info struct {
	ID string
	// Settings are without the password.
	Settings Settings
	// Tabs is how many of its tabs are open.
	Tabs int
	// Downloads is the folder that the pages download into, or empty.
	Downloads string
	Process   Process
}

// New makes the sessions of a pool. With a nil browser there is the default session only, and its
// settings cannot be changed.
func New(pool *tabpool.Pool, browser Browser, cfg Config) *Sessions {
	if cfg.Max <= 0 {
		cfg.Max = 50
	}
	if cfg.Quota == nil {
		cfg.Quota = func(string) (string, int) { return "", 0 }
	}
	if cfg.Elsewhere == nil {
		cfg.Elsewhere = func(string) int { return 0 }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Sessions{pool: pool, browser: browser, cfg: cfg, registry: registry{max: cfg.Max, quota: cfg.Quota, elsewhere: cfg.Elsewhere, random: cfg.Registrar != nil}}
	if cfg.Registrar != nil {
		return s
	}
	first := newSession(Default)
	first.ready = true
	first.settings.Dialogs = pool.DialogPolicy(Default)
	if browser != nil {
		first.context = browser.DefaultContext()
	}
	s.registry.all = []*session{first}
	return s
}

// Create makes a session and loads the state. An empty id lets Create choose one. Errors are *apierr.Error
// of kind Exists when the id is in use, Exhausted when there are too many sessions, and those of the
// browser. After an error nothing is left of the session.
func (s *Sessions) Create(ctx context.Context, id string, settings Settings, state State) (Info, error) {
	if s.browser == nil {
		return Info{}, apierr.Errorf(apierr.Lost, "the browser of this daemon does not support sessions: use the default session")
	}
	s.mu.Lock()
	one, err := s.registry.add(id)
	s.mu.Unlock()
	if err != nil {
		return Info{}, err
	}
	create := func(ctx context.Context) error { return s.create(ctx, one, settings, state) }
	if s.cfg.Registrar != nil {
		err = s.cfg.Registrar.Acquire(ctx, one.id, create)
	} else {
		err = create(ctx)
	}
	if err != nil {
		s.giveBack(ctx, one, err)
		return Info{}, fmt.Errorf("create session %s: %w", one.id, err)
	}
	return s.info(one), nil
}

// create makes the browser context of a session, which can be found from then on.
func (s *Sessions) create(ctx context.Context, one *session, settings Settings, state State) error {
	settings.Routes = counted(settings.Routes)
	bctx, err := newContext(ctx, s.browser, one.id, settings)
	if err == nil {
		if len(state.Cookies) > 0 || len(state.Origins) > 0 {
			err = bctx.SetState(ctx, state, false)
		}
		if err == nil && ctx.Err() != nil { // the caller would not learn of the session
			err = context.Cause(ctx)
		}
		if err != nil {
			err = s.discard(ctx, bctx, err)
		}
	}
	if err != nil {
		return err
	}
	s.pool.SetDialogPolicy(one.id, settings.Dialogs)
	s.mu.Lock()
	one.context, one.settings, one.ready, one.used = bctx, settings, true, time.Now()
	s.mu.Unlock()
	return nil
}

func (s *Sessions) remove(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registry.remove(one)
}

// Has fails with an *apierr.Error of kind NotFound when there is no such session; an empty id is the default one's.
func (s *Sessions) Has(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.registry.find(id)
	return err
}

// List lists the sessions, the default one first, then oldest first.
func (s *Sessions) List() []Info {
	s.mu.Lock()
	ready := s.registry.ready()
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
	bctx := one.context
	s.mu.Unlock()
	if bctx != nil {
		i.Downloads = bctx.Downloads()
		if r, ok := bctx.(Restartable); ok {
			i.Process = r.Process()
		}
	}
	if c := i.Settings.Credentials; c != nil {
		i.Settings.Credentials = &Credentials{Username: c.Username, Origin: c.Origin}
	}
	if p := i.Settings.Proxy; p != nil {
		i.Settings.Proxy = &Proxy{Server: p.Server, Bypass: p.Bypass, Username: p.Username}
	}
	for _, t := range s.pool.Tabs() {
		if t.Session() == one.id {
			i.Tabs++
		}
	}
	return i
}

// Open is Pool.Open in a session; an *apierr.Error of kind NotFound when there is no such session.
func (s *Sessions) Open(ctx context.Context, o tabpool.OpenOptions) (*actor.Tab, error) {
	s.mu.Lock()
	one, err := s.registry.find(o.Session)
	var release func()
	if err == nil {
		one.opening.Add(1)
		release = one.hold(&s.mu)
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
	return tab, one.explain(err)
}

// change runs one change of a session at a time.
func (s *Sessions) change(ctx context.Context, id string, do func(context.Context, *session) error) error {
	s.mu.Lock()
	one, err := s.registry.find(id)
	var release func()
	if err == nil {
		release = one.hold(&s.mu)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	defer release()
	if one.context == nil {
		return apierr.Errorf(apierr.Lost, "the browser of this daemon does not support changes of sessions")
	}
	ctx, cancel := one.within(ctx)
	defer cancel()
	select {
	case one.changing <- struct{}{}:
	case <-ctx.Done():
		return one.explain(fmt.Errorf("session %s is busy with another change: try again: %w", one.id, ctx.Err()))
	}
	defer func() { <-one.changing }()
	return one.explain(do(ctx, one))
}

// Update replaces the settings of a session but its routes and its proxy, for its open tabs too.
func (s *Sessions) Update(ctx context.Context, id string, settings Settings) (Info, error) {
	var info Info
	err := s.change(ctx, id, func(ctx context.Context, one *session) error {
		if err := s.keepsMask(one, settings); err != nil {
			return err
		}
		was := s.settingsOf(one)
		if err := keepsProxy(was.Proxy, settings.Proxy); err != nil {
			return err
		}
		settings.Routes, settings.Proxy = was.Routes, was.Proxy
		if err := s.configure(ctx, one, settings); err != nil {
			return err
		}
		s.pool.SetDialogPolicy(one.id, settings.Dialogs)
		info = s.info(one)
		return nil
	})
	return info, err
}

// State reads what a session has stored.
func (s *Sessions) State(ctx context.Context, id string, o StateOptions) (state State, err error) {
	err = s.change(ctx, id, func(ctx context.Context, one *session) error {
		state, err = one.context.State(ctx, o)
		return err
	})
	return state, err
}

// Stored calls do with what a session has stored. It counts as a change of the session.
func (s *Sessions) Stored(ctx context.Context, id string, do func(context.Context, Storage) error) error {
	return s.change(ctx, id, func(ctx context.Context, one *session) error {
		return one.context.Stored(ctx, func(all Storage) error { return do(ctx, all) })
	})
}

// SetState stores something in a session; with replace, all that is there is forgotten first.
func (s *Sessions) SetState(ctx context.Context, id string, state State, replace bool) error {
	return s.change(ctx, id, func(ctx context.Context, one *session) error { return one.context.SetState(ctx, state, replace) })
}
