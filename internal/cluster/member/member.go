package member

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	// SaveEvery is the interval between saves of a session that keeps changing. A session that was idle before is saved sooner.
	SaveEvery = 10 * time.Second
	// saveBound limits the time to save one session.
	saveBound = 5 * time.Second
	// returnBound limits how long Restore waits for the pages of a session.
	returnBound = 10 * time.Second
	// releaseBound limits the time to remove a closed session from the registry.
	releaseBound = 10 * time.Second
)

// Node provides a Member with access to the cluster. *cluster.Node implements it.
type Node interface {
	Acquire(ctx context.Context, name string, o cluster.Options, create func(ctx context.Context) error) error
	Release(ctx context.Context, name string) error
	Check(session string) error
	Token(session string) (uint64, error)
	SetRestore(ctx context.Context, session string, on bool) error
	SetTab(ctx context.Context, id string, tab registry.Tab) error
	RemoveTab(ctx context.Context, id string) error
	CountOthers(accept func(session string) bool) (sessions, tabs int)
}

// Config sets up a Member.
type Config struct {
	// States stores the saved sessions.
	States cluster.States
	// MaxSessions limits the number of sessions on the node.
	MaxSessions int
	// Client returns the client that owns a session, or an empty string for a client without a quota. If nil, no client has a quota.
	Client func(session string) string
	// Explain converts an error of the cluster for clients. If nil, clients receive the error unchanged.
	Explain func(error) error
	// Leaving is called with the tabs of a session that is about to leave, before they end. If nil, nothing is called.
	Leaving func(tabs []string)
	// Logger logs errors that cannot be returned to a caller. If nil, nothing is logged.
	Logger *slog.Logger
}

// Member is the daemon's side of a node. It implements cluster.Host, sessions.Registrar and, as tabpool.Config.RestoreStore, actor.RestoreStore. Its methods are safe
// for concurrent use.
type Member struct {
	cfg      Config
	pool     *tabpool.Pool
	sessions sessions.Handover
	node     Node
	// started is closed when the fields above are set.
	started chan struct{}
	tabs    *tabs

	// running counts the goroutines of Start, which end with ctx.
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	// due receives a value when a session must be saved now.
	due chan struct{}
	gate
}

// New returns a Member that does nothing yet. All of its later work ends with ctx at the latest.
func New(ctx context.Context, cfg Config) *Member {
	if cfg.Explain == nil {
		cfg.Explain = func(err error) error { return err }
	}
	if cfg.Client == nil {
		cfg.Client = func(string) string { return "" }
	}
	if cfg.Leaving == nil {
		cfg.Leaving = func([]string) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Member{cfg: cfg, started: make(chan struct{}), due: make(chan struct{}, 1), gate: gate{holds: map[string]*heldSession{}}}
	m.ctx, m.end = context.WithCancel(ctx)
	m.tabs = newTabs(m)
	return m
}

// Use sets the tab pool and the sessions. It is called once, before Start.
func (m *Member) Use(pool *tabpool.Pool, all *sessions.Sessions) {
	m.pool, m.sessions = pool, sessions.Handover{Sessions: all}
}

// Start starts to register tabs and to save sessions. It is called once.
func (m *Member) Start(node Node) {
	m.node = node
	close(m.started)
	m.running.Go(m.tabs.follow)
	m.running.Go(m.tabs.run)
	m.running.Go(m.save)
}

// Close ends the goroutines of Start and waits for them. Tabs that end later stay registered for the next owner.
func (m *Member) Close() {
	m.end()
	m.running.Wait()
}

// MayAct returns an *apierr.Error of kind Fenced unless this node has a session now and may act on it. A session that the node has given up
// still has pages until the browser has closed them. MayAct does not block.
func (m *Member) MayAct(session string) error {
	if m.node.Check(session) == nil {
		return nil
	}
	return apierr.Errorf(apierr.Fenced, "this node was cut off from the cluster, and another node takes over the session: try again on another node in a few seconds")
}

// SessionsElsewhere returns how many sessions a client has on other nodes. The number may be slightly stale.
func (m *Member) SessionsElsewhere(client string) int {
	sessions, _ := m.elsewhere(client)
	return sessions
}

// TabsElsewhere returns how many tabs a client has on other nodes. The number may be slightly stale.
func (m *Member) TabsElsewhere(client string) int {
	_, tabs := m.elsewhere(client)
	return tabs
}

func (m *Member) elsewhere(client string) (sessions, tabs int) {
	select {
	case <-m.started:
		return m.node.CountOthers(func(session string) bool { return m.cfg.Client(session) == client })
	default:
		return 0, 0
	}
}

// Begin starts a call about a tab or a session. It accepts the daemon's name of one of them, and the other name is empty. If stream is
// true, the call does not keep the session from leaving. The caller must call done when the call has ended; done waits until the tabs that
// the call created are registered. If this node was cut off, Begin returns the error of Explain. While the session is leaving, Begin
// returns an *apierr.Error of kind NotFound, and the caller looks the session up again.
func (m *Member) Begin(tab, session string, stream bool) (done func(context.Context), err error) {
	nothing := func(context.Context) {}
	if tab != "" {
		found, err := m.pool.Tab(tab)
		if err != nil {
			return nothing, nil // the handler reports the error
		}
		session = found.Session()
	}
	if session == "" {
		return nothing, nil
	}
	if err := m.node.Check(session); errors.Is(err, cluster.ErrFenced) {
		return nil, m.cfg.Explain(err)
	}
	h, err := m.enter(session, stream)
	switch {
	case err != nil && tab != "":
		return nil, tabpool.NoTab(tab)
	case err != nil:
		return nil, err
	case h == nil: // the call creates the session, or there is none
		return func(ctx context.Context) { m.tabs.settle(ctx, session) }, nil
	case stream:
		return func(context.Context) { m.leaves(h, &h.streams) }, nil
	}
	return func(ctx context.Context) {
		m.tabs.settle(ctx, session)
		m.leaves(h, &h.calls)
	}, nil
}

// Acquire implements sessions.Registrar.
func (m *Member) Acquire(ctx context.Context, id string, create func(ctx context.Context) error) error {
	err := m.node.Acquire(ctx, id, cluster.Options{}, func(ctx context.Context) error {
		if err := create(ctx); err != nil {
			return err
		}
		m.add(id)
		return nil
	})
	if errors.Is(err, cluster.ErrExists) {
		return apierr.Errorf(apierr.Exists, "session %q already exists: use it, close it, or choose another id", id)
	}
	return m.cfg.Explain(err)
}

// Release implements sessions.Registrar.
func (m *Member) Release(ctx context.Context, id string) {
	m.drop(id)
	m.tabs.forget(id)
	ctx, cancel := context.WithTimeout(ctx, releaseBound)
	defer cancel()
	if err := m.node.Release(ctx, id); err != nil {
		m.cfg.Logger.Warn("a closed session is not yet removed from the cluster's registry", "session", id, "error", err)
	}
}
