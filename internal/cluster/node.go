package cluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/internal/cluster/counts"
	"github.com/domtap/domtap/internal/cluster/holdings"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/ledger"
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
	// Role is registry.RoleServer or registry.RoleClient; empty: unknown.
	Role string
	// Open opens the registry, as registry.Open does. The Node closes it.
	Open func(ctx context.Context, cfg registry.Config) (*registry.Registry, error)
	Host Host
	// States keeps the states of sessions that move; nil: they are lost.
	States States
	// KeepLost is how long the registry keeps the names and the tabs of sessions that ended with their node: one that was only cut off
	// has them again when it is back. Zero: 10 minutes.
	KeepLost time.Duration
	// Timing is the same on all nodes; zero: lease.Standard.
	Timing lease.Timing
	// Logger takes what happens to the cluster; nil: nothing is logged.
	Logger *slog.Logger
}

// Node is this process as a part of a cluster. Its methods are safe for concurrent use.
type Node struct {
	records
	cfg Config
	log *slog.Logger
	// draining: the node gets no new sessions. drained: an operator wants that, also of the next process.
	draining, drained atomic.Bool
	// member is the current incarnation.
	member atomic.Pointer[member]

	// ctx ends with the Node; running counts its goroutines.
	ctx        context.Context
	end        context.CancelFunc
	running    sync.WaitGroup
	operations *Operations
	counts     counts.Counter
	// unanswered ends the answers to other nodes' questions.
	unanswered func()
	// news and work are filled when a view has changed: for what looks after other nodes, and for what looks after this one.
	news, work chan struct{}
}

// Join makes this process a node of the cluster. It tries until ctx ends.
func Join(ctx context.Context, cfg Config) (*Node, error) {
	cfg.Timing = cmp.Or(cfg.Timing, lease.Standard)
	cfg.KeepLost = cmp.Or(cfg.KeepLost, 10*time.Minute)
	if cfg.States == nil {
		cfg.States = noStates{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{
		records: records{id: cfg.ID, ledger: ledger.New(), own: holdings.New[*member]()},
		cfg:     cfg, log: cfg.Logger.With("node", cfg.ID),
		news: make(chan struct{}, 1), work: make(chan struct{}, 1),
	}
	n.ctx, n.end = context.WithCancel(context.WithoutCancel(ctx))
	n.operations = newOperations(n)
	var err error
	if n.reg, err = cfg.Open(ctx, registry.Config{Nodes: n.nodeChanged, Sessions: n.sessionChanged, Logger: cfg.Logger}); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if n.ledger.Drained(cfg.ID) {
		n.drained.Store(true)
		n.draining.Store(true)
		n.operations.begin()
		n.log.Warn("this node drains, as before it was started: it takes no sessions until that is undone")
	}
	membership := membership{n}
	m, err := membership.enlist(ctx)
	if err == nil {
		n.member.Store(m)
		if n.unanswered, err = n.reg.Answer(cfg.ID, n.answer); err != nil {
			_, _ = m.keeper.Release()
		}
	}
	if err != nil {
		n.reg.Close()
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n.running.Go(func() { membership.live(m) })
	n.running.Go(newWatch(n).run)
	n.running.Go(attendant{n}.run)
	n.running.Go(n.operations.run)
	n.log.Info("joined the cluster", "incarnation", m.incarnation)
	return n, nil
}

// Operations are what an operator does with the node.
func (n *Node) Operations() *Operations { return n.operations }

// Counts are what the node has counted.
func (o *Operations) Counts() counts.Counts { return o.node.counts.Read() }

func (n *Node) nodeChanged(c registry.Change[registry.Node]) {
	n.ledger.Node(c)
	poke(n.news)
}

func (n *Node) sessionChanged(c registry.Change[registry.Session]) {
	n.ledger.Session(c)
	if c.Lost {
		n.own.Rebase(c)
		n.log.Warn("the registry has lost the place of a session", "session", c.Key, "revision", c.Old.Revision, "instead", ledger.BaseOf(c))
	}
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

// Close leaves the cluster, and returns when nothing runs any more. Sessions with Restore are fenced, and others take them over at once;
// when ctx ends before the registry knows, they take them over when the lease has ended. Operations.Drain moves sessions before.
func (n *Node) Close(ctx context.Context) {
	n.end()
	n.running.Wait()
	n.unanswered()
	m := n.member.Load()
	if _, err := m.keeper.Release(); err == nil {
		membership{n}.fence(m)
		membership{n}.retire(ctx, m.key)
	}
	n.reg.Close()
	n.log.Info("left the cluster")
}
