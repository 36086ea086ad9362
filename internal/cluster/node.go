package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Config sets up a Node.
type Config struct {
	// ID names the node; it is unique in the cluster, and stays over restarts.
	ID string
	// Address is where the node's gRPC server listens for other nodes.
	Address string
	// Version is the program's.
	Version string
	// Open opens the registry, as registry.Open does. The Node closes it.
	Open func(ctx context.Context, cfg registry.Config) (*registry.Registry, error)
	Host Host
	// States keeps the states of sessions that move; nil: they are lost.
	States States
	// Timing is the same on all nodes; zero: lease.Standard.
	Timing lease.Timing
	// Logger takes what happens to the cluster; nil: nothing is logged.
	Logger *slog.Logger
}

// Node is this process as a part of a cluster. Its methods are safe for concurrent use.
type Node struct {
	cfg    Config
	log    *slog.Logger
	reg    *registry.Registry
	ledger *ledger
	own    holdings
	// draining: the node gets no new sessions.
	draining atomic.Bool
	// member is the current incarnation.
	member atomic.Pointer[member]

	// ctx ends with the Node; running counts its goroutines.
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	// news and work are filled when a view has changed: for what looks after other nodes, and for what looks after this one.
	news, work chan struct{}
}

// member is one incarnation of this node.
type member struct {
	key, incarnation string
	keeper           *lease.Keeper
}

// Join makes this process a node of the cluster. It tries until ctx ends.
func Join(ctx context.Context, cfg Config) (*Node, error) {
	cfg.Timing = cmp.Or(cfg.Timing, lease.Standard)
	if cfg.States == nil {
		cfg.States = noStates{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{
		cfg: cfg, log: cfg.Logger.With("node", cfg.ID), ledger: newLedger(), own: holdings{all: map[string]*holding{}},
		news: make(chan struct{}, 1), work: make(chan struct{}, 1),
	}
	n.ctx, n.end = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if n.reg, err = cfg.Open(ctx, registry.Config{Nodes: n.nodeChanged, Sessions: n.sessionChanged, Logger: cfg.Logger}); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	m, err := n.enlist(ctx)
	if err != nil {
		n.reg.Close()
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n.member.Store(m)
	n.running.Go(func() { n.live(m) })
	n.running.Go(newWatch(n).run)
	n.running.Go(n.attend)
	n.log.Info("joined the cluster", "incarnation", m.incarnation)
	return n, nil
}

func (n *Node) nodeChanged(c registry.Change[registry.Node]) {
	n.ledger.node(c)
	poke(n.news)
}

func (n *Node) sessionChanged(c registry.Change[registry.Session]) {
	n.ledger.session(c)
	poke(n.work)
	poke(n.news)
}

// poke fills a channel that holds one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// enlist acquires the lease of a new incarnation.
func (n *Node) enlist(ctx context.Context) (*member, error) {
	m := &member{incarnation: rand.Text()}
	m.key = registry.NodeKey(n.cfg.ID, m.incarnation)
	keeper, err := lease.Start(ctx, n.cfg.Timing, leaseStore{n, m})
	m.keeper = keeper
	return m, err
}

// live keeps the node in the cluster: when its lease has ended, it stops what others may have taken over, and joins again.
func (n *Node) live(m *member) {
	for {
		select {
		case <-m.keeper.Done():
		case <-n.ctx.Done():
			return
		}
		n.log.Warn("this node was cut off from the cluster", "incarnation", m.incarnation, "error", m.keeper.Err())
		n.fence(m)
		_, _ = m.keeper.Release() // it is over; this waits for its goroutine
		next, err := n.enlist(n.ctx)
		if err != nil {
			return // the node is being closed
		}
		n.member.Store(next)
		n.log.Info("joined the cluster again", "incarnation", next.incarnation)
		n.retire(n.ctx, m.key)
		n.reclaim(m, next)
		m = next
	}
}

// fence stops the sessions of an incarnation that others take over.
func (n *Node) fence(m *member) {
	for _, name := range n.own.drop(func(h *holding) bool { return h.member == m && h.restore }) {
		n.cfg.Host.Fence(name)
	}
}

// retire says that an incarnation is gone, so that nobody has to wait for the end of its lease. The sessions that others may take
// over have been stopped. When it fails, the others wait.
func (n *Node) retire(ctx context.Context, key string) {
	for ctx.Err() == nil {
		e, err := n.reg.Nodes.Get(ctx, key)
		if err != nil || e.Value.Gone {
			return
		}
		e.Value.Gone = true
		if _, err = n.reg.Nodes.Update(ctx, key, e.Value, e.Revision); err == nil || errors.Is(err, registry.ErrUnavailable) {
			return
		}
		pause(ctx)
	}
}

// reclaim gives the sessions that stayed here while the node was cut off to its next incarnation. One that somebody else has made
// meanwhile ends.
func (n *Node) reclaim(old, next *member) {
	for _, name := range n.own.list(func(h *holding) bool { return h.member == old }) {
		if err := n.reclaimOne(name, old, next); err != nil {
			n.log.Warn("a session was lost while this node was cut off", "session", name, "error", err)
			n.own.remove(name)
			n.cfg.Host.Fence(name)
		}
	}
}

// reclaimOne is reclaim for one session.
func (n *Node) reclaimOne(name string, old, next *member) error {
	h, ok := n.own.get(name)
	if !ok {
		return nil
	}
	value := n.value(next, registry.Ready, Options{h.restore, h.settings})
	for n.ctx.Err() == nil && next.keeper.Check() == nil {
		e, err := n.reg.Sessions.Get(n.ctx, name)
		switch {
		case err == nil && ownerOf(e.Value) != old.key && ownerOf(e.Value) != next.key:
			return ErrExists
		case err == nil || errors.Is(err, registry.ErrNotFound):
			revision, err := n.store(n.ctx, name, value, e.Revision)
			if err == nil {
				n.own.update(name, func(h *holding) { h.member, h.revision, h.token = next, revision, revision })
				return nil
			}
		}
		pause(n.ctx)
	}
	return nil // the next incarnation tries again
}

// Close leaves the cluster, and returns when nothing runs any more. Sessions with Restore are fenced, and others take them over at once;
// when ctx ends before the registry knows, they take them over when the lease has ended. Drain moves sessions before.
func (n *Node) Close(ctx context.Context) {
	n.end()
	n.running.Wait()
	m := n.member.Load()
	if _, err := m.keeper.Release(); err == nil {
		n.fence(m)
		n.retire(ctx, m.key)
	}
	n.reg.Close()
	n.log.Info("left the cluster")
}

// pauseFor is how long to wait before the registry is asked again after a failure.
const pauseFor = 100 * time.Millisecond

// pause waits for pauseFor, or until ctx ends.
func pause(ctx context.Context) {
	timer := time.NewTimer(pauseFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// leaseStore keeps the lease of an incarnation in the registry.
type leaseStore struct {
	node   *Node
	member *member
}

// Renew implements lease.Store.
func (s leaseStore) Renew(ctx context.Context, a lease.Attempt) (uint64, error) {
	cfg := s.node.cfg
	revision, err := s.node.reg.Nodes.Update(ctx, s.member.key, registry.Node{
		ID: cfg.ID, Incarnation: s.member.incarnation, Address: cfg.Address, Version: cfg.Version,
		Renewal: a.Number, Load: cfg.Host.Load(), Draining: s.node.draining.Load(),
	}, a.Revision)
	if errors.Is(err, registry.ErrConflict) {
		return 0, fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	return revision, err
}

// Read implements lease.Store.
func (s leaseStore) Read(ctx context.Context) (lease.Found, error) {
	e, err := s.node.reg.Nodes.Get(ctx, s.member.key)
	return lease.Found{Attempt: lease.Attempt{Number: e.Value.Renewal, Revision: e.Revision}, Gone: e.Value.Gone}, err
}
