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
	// SaveEvery is how often the state of a session is saved that goes on changing. One that rested before is saved sooner.
	SaveEvery = 10 * time.Second
	// saveBound is how long one session may take to be saved.
	saveBound = 5 * time.Second
	// returnBound is how long Restore waits for the pages of a session.
	returnBound = 10 * time.Second
	// releaseBound is how long the registry may take to learn that a session is closed.
	releaseBound = 10 * time.Second
)

// Node is what a Member needs of its node of the cluster; *cluster.Node implements it.
type Node interface {
	Acquire(ctx context.Context, name string, o cluster.Options, create func(ctx context.Context) error) error
	Release(ctx context.Context, name string) error
	Check(session string) error
	Token(session string) (uint64, error)
	SetRestore(ctx context.Context, session string, on bool) error
	SetTab(ctx context.Context, id string, tab registry.Tab) error
	RemoveTab(ctx context.Context, id string) error
	Elsewhere(accept func(session string) bool) (sessions, tabs int)
}

// Config sets up a Member.
type Config struct {
	// States are where sessions are saved.
	States cluster.States
	// MaxSessions is how many sessions the node takes.
	MaxSessions int
	// Client says which client a session belongs to; empty: one without a quota. Nil: all are.
	Client func(session string) string
	// Explain makes an error of the cluster one for clients; nil: they get it as it is.
	Explain func(error) error
	// Leaving is called with the tabs of a session that is about to leave, before they end; nil: nothing is called.
	Leaving func(tabs []string)
	// Logger takes what no caller can be told; nil: nothing is logged.
	Logger *slog.Logger
}

// Member is the daemon's side of a node. It implements cluster.Host, sessions.Registrar and, as Keeper, actor.Keeper. Its methods are safe
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
	// due is filled when a session is to be saved now.
	due chan struct{}
	gate
}

// New makes a Member that does nothing yet. What it begins later ends with ctx at the latest.
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
	m := &Member{cfg: cfg, started: make(chan struct{}), due: make(chan struct{}, 1), gate: gate{holds: map[string]*hold{}}}
	m.ctx, m.end = context.WithCancel(ctx)
	m.tabs = newTabs(m)
	return m
}

// Use says whose sessions these are. It is called once, before Start.
func (m *Member) Use(pool *tabpool.Pool, all *sessions.Sessions) {
	m.pool, m.sessions = pool, sessions.Handover{Sessions: all}
}

// Start begins to register tabs and to save sessions. It is called once.
func (m *Member) Start(node Node) {
	m.node = node
	close(m.started)
	m.running.Go(m.tabs.follow)
	m.running.Go(m.tabs.run)
	m.running.Go(m.save)
}

// Close ends what Start began, and returns when nothing of it runs any more. Tabs that end later stay registered, for the next owner.
func (m *Member) Close() {
	m.end()
	m.running.Wait()
}

// MayAct fails with an *apierr.Error of kind Fenced unless this node has a session now and may act for it. One that the node has given
// up still has pages until the browser has closed them. MayAct does not wait.
func (m *Member) MayAct(session string) error {
	if m.node.Check(session) == nil {
		return nil
	}
	return apierr.Errorf(apierr.Fenced, "this node was cut off from the cluster, and another node takes the session over: try again in a few seconds, at another node")
}

// SessionsElsewhere and TabsElsewhere are how many sessions and tabs a client has at other nodes, as this one knows: a moment ago.
func (m *Member) SessionsElsewhere(client string) int {
	sessions, _ := m.elsewhere(client)
	return sessions
}

// TabsElsewhere is described at SessionsElsewhere.
func (m *Member) TabsElsewhere(client string) int {
	_, tabs := m.elsewhere(client)
	return tabs
}

func (m *Member) elsewhere(client string) (sessions, tabs int) {
	select {
	case <-m.started:
		return m.node.Elsewhere(func(session string) bool { return m.cfg.Client(session) == client })
	default:
		return 0, 0
	}
}

// Begin begins a call about a tab or a session, by the daemon's name for it; the other name is empty. Stream says that it does not keep
// the session from leaving. Done is to be called when the call has ended; it waits until the tabs that the call made are registered.
// Errors are that of a node that was cut off, as Explain makes it, and an *apierr.Error of kind NotFound while the session leaves: the
// caller looks for it again.
func (m *Member) Begin(tab, session string, stream bool) (done func(context.Context), err error) {
	nothing := func(context.Context) {}
	if tab != "" {
		found, err := m.pool.Tab(tab)
		if err != nil {
			return nothing, nil // whoever serves the call says so
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
	case h == nil: // it is made by the call, or there is none
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
		m.cfg.Logger.Warn("a session was closed, and the cluster does not know it yet", "session", id, "error", err)
	}
}
