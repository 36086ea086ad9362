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
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/owned"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Config sets up a Node.
type Config struct {
	// ID identifies the node. It is unique in the cluster and stays the same across restarts.
	ID string
	// Address is where the node's gRPC server listens for other nodes.
	Address string
	// Version is the version of the program.
	Version string
	// Role is registry.RoleServer, registry.RoleClient, or empty if unknown.
	Role string
	// Open opens the registry, as registry.Open does. The Node closes it.
	Open func(ctx context.Context, cfg registry.Config) (*registry.Registry, error)
	Host Host
	// States stores the states of sessions that move. If nil, these states are lost.
	States States
	// KeepLost is how long the registry keeps the names and tabs of sessions that ended with their node. A node that was only cut off gets
	// them back when it reconnects. Zero means 10 minutes.
	KeepLost time.Duration
	// Timing must be the same on all nodes. Zero means lease.Standard.
	Timing lease.Timing
	// Logger receives the cluster's events. If nil, nothing is logged.
	Logger *slog.Logger
}

// Node represents this process in the cluster. Its methods are safe for concurrent use.
type Node struct {
	records
	cfg Config
	log *slog.Logger
	// draining is set while the node accepts no new sessions. drained is set if an operator requested that; it also holds for the node's
	// next process.
	draining, drained atomic.Bool
	// member is the current incarnation.
	member atomic.Pointer[member]

	// ctx ends when the Node is closed. running counts its goroutines.
	ctx        context.Context
	end        context.CancelFunc
	running    sync.WaitGroup
	operations *Operations
	counts     counts.Counter
	// unanswered stops answering the requests of other nodes.
	unanswered func()
	// news and work receive a value when a view changes. news wakes the watch of other nodes, work the attendant of this node.
	news, work chan struct{}
}

// Join makes this process a node of the cluster. It retries until ctx ends.
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
		records: records{id: cfg.ID, ledger: ledger.New(), own: owned.New[*member]()},
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
		n.log.Warn("this node still drains since before its restart: it takes no sessions until the draining ends")
	}
	membership := membership{n}
	m, err := membership.acquire(ctx)
	if err == nil {
		n.member.Store(m)
		if n.unanswered, err = n.reg.Answer(cfg.ID, n.answer); err != nil {
			_, _ = m.renewer.Release()
		}
	}
	if err != nil {
		n.reg.Close()
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n.running.Go(func() { membership.live(m) })
	n.running.Go(newWatch(n).run)
	n.running.Go(sessionManager{n}.run)
	n.running.Go(n.operations.run)
	n.log.Info("joined the cluster", "incarnation", m.incarnation)
	return n, nil
}

// Operations returns the operator's actions on the node.
func (n *Node) Operations() *Operations { return n.operations }

// Counts returns the node's counters.
func (o *Operations) Counts() counts.Counts { return o.node.counts.Read() }

func (n *Node) nodeChanged(c registry.Change[registry.Node]) {
	n.ledger.Node(c)
	notify(n.news)
}

func (n *Node) sessionChanged(c registry.Change[registry.Session]) {
	n.ledger.Session(c)
	if c.Lost {
		n.own.Rebase(c)
		n.log.Warn("the registry lost the entry of a session", "session", c.Key, "revision", c.Old.Revision, "instead", ledger.BaseOf(c))
	}
	notify(n.work)
	notify(n.news)
}

// notify sends to a channel of capacity 1, unless it is full.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close leaves the cluster and returns when all goroutines have ended. Sessions with Restore are fenced, and other nodes take them over
// immediately, or, if ctx ends before the registry is updated, after the lease has expired. To move the sessions first, call
// Operations.Drain.
func (n *Node) Close(ctx context.Context) {
	n.end()
	n.running.Wait()
	n.unanswered()
	m := n.member.Load()
	if _, err := m.renewer.Release(); err == nil {
		membership{n}.fence(m)
		membership{n}.retire(ctx, m.key)
	}
	n.reg.Close()
	n.log.Info("left the cluster")
}
