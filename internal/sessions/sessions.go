// Package sessions owns the sessions. A session is a browser context with its own cookies and storage. Its tabs belong to a tabpool.Pool.
//
// What the package guarantees:
//
//   - A session named `default` always exists. With a Registrar it does not: Create creates it like the others, and it ends by Close, by
//     Leave, or with the browser.
//   - Changes of one session (Update, SetState, Close) run one at a time. Sessions do not wait for each other.
//   - Close refuses later calls, ends calls in progress, and closes the tabs and then the browser context. Close completes its work even
//     if its caller stops waiting.
//   - A call returns when its context ends. Without calls, nothing runs.
//
// Callers open tabs with Open. At the end they must call Wait, after Pool.Close.
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

// Default is the name of the default session.
const Default = driver.DefaultSession

// Config configures the sessions. The zero value is usable.
type Config struct {
	// Max limits the number of concurrent sessions, including the default session. Zero means 50. An empty session costs the browser almost
	// nothing; a session with a tab costs about 30 MB.
	Max int
	// Quota returns the client that a session belongs to, and how many sessions that client may have, so that it leaves room for others. If
	// Quota is nil or the client is empty, only Max applies.
	Quota func(id string) (client string, sessions int)
	// Elsewhere returns how many sessions a client has in other processes. They also count against its Quota. It must not block. If nil,
	// there are none.
	Elsewhere func(client string) int
	// Registrar registers the sessions' names in a cluster. If nil, there are no other processes with sessions.
	Registrar Registrar
	// Logger logs events that no call reports. If nil, nothing is logged.
	Logger *slog.Logger
}

// Registrar manages session names across processes. Its methods are safe for concurrent use.
type Registrar interface {
	// Acquire acquires a name and then calls create. After an error, including an error of create, the name is free again. The error is an
	// *apierr.Error of kind Exists if the name is in use elsewhere.
	Acquire(ctx context.Context, id string, create func(ctx context.Context) error) error
	// Release releases the name of a closed session.
	Release(ctx context.Context, id string)
}

// Sessions creates, finds and closes the sessions of a pool. Its methods are safe for concurrent use.
type Sessions struct {
	pool    *tabpool.Pool
	browser Browser
	cfg     Config
	// closing counts the sessions that are closing.
	closing sync.WaitGroup

	mu sync.Mutex
	// registry holds the sessions; mu guards it.
	registry registry
}

// Info describes a session.
type Info struct {
	ID string
	// Settings omits the password.
	Settings Settings
	// Tabs is the number of the session's open tabs.
	Tabs int
	// Downloads is the download folder of the pages, or empty.
	Downloads string
	Process   Process
}

// New returns the sessions of a pool. If browser is nil, only the default session exists, and its settings cannot be changed.
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

// Create creates a session and loads the state. If id is empty, Create chooses one. It fails with an *apierr.Error of kind Exists if the id
// is in use, with one of kind Exhausted if there are too many sessions, or with an error of the browser. After an error nothing of the
// session remains.
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

// create creates the browser context of a session. When it succeeds, lookups find the session.
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

// Has fails with an *apierr.Error of kind NotFound if the session does not exist. An empty id selects the default session.
func (s *Sessions) Has(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.registry.find(id)
	return err
}

// List returns the sessions, the default session first, then oldest first.
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

// Open opens a tab in a session with Pool.Open. It fails with an *apierr.Error of kind NotFound if the session does not exist.
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

// change runs do while no other change of the session runs.
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
		return apierr.Errorf(apierr.Lost, "the browser of this daemon does not support session changes: create another session")
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

// Update replaces the settings of a session, except its routes and its proxy. The new settings also apply to open tabs.
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

// State reads the stored data of a session.
func (s *Sessions) State(ctx context.Context, id string, o StateOptions) (state State, err error) {
	err = s.change(ctx, id, func(ctx context.Context, one *session) error {
		state, err = one.context.State(ctx, o)
		return err
	})
	return state, err
}

// Stored calls do with the stored data of a session. It counts as a change of the session.
func (s *Sessions) Stored(ctx context.Context, id string, do func(context.Context, Storage) error) error {
	return s.change(ctx, id, func(ctx context.Context, one *session) error {
		return one.context.Stored(ctx, func(all Storage) error { return do(ctx, all) })
	})
}

// SetState stores data in a session. With replace, all existing data is deleted first.
func (s *Sessions) SetState(ctx context.Context, id string, state State, replace bool) error {
	return s.change(ctx, id, func(ctx context.Context, one *session) error { return one.context.SetState(ctx, state, replace) })
}
