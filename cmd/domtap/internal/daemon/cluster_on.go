//go:build cluster

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/admin"
	"github.com/domtap/domtap/internal/cluster/directory"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/member"
	"github.com/domtap/domtap/internal/cluster/peers"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/cluster/replication"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	// joinLimit limits how long the start waits for a majority of the servers.
	joinLimit = 2 * time.Minute
	// drainLimit limits how long sessions may take to move to other nodes when the daemon stops.
	drainLimit = 20 * time.Second
	// leaveLimit limits how long the node tries to deregister.
	leaveLimit = 3 * time.Second
	// fenceInterval is the interval at which the node checks whether it is cut off.
	fenceInterval = 500 * time.Millisecond
)

// clusterMember is the clusterNode of a daemon in a cluster.
type clusterMember struct {
	// ctx ends when the daemon has left the cluster. That is later than the end of the context with which it was started, because sessions
	// move in between.
	ctx context.Context
	end context.CancelFunc
	// stopping is set when the daemon starts to leave.
	stopping    atomic.Bool
	cfg         Config
	log         *slog.Logger
	credentials peers.Credentials
	listener    net.Listener
	member      *member.Member
	node        *cluster.Node
	states      *registry.States
	records     *logs.Log
	owner       *replication.Owner
	copies      tabCopies
	proxy       *peers.Proxy
	// answers is the name under which other nodes request this node's tabs. stopAnswering stops answering these requests.
	answers       string
	stopAnswering func()
	// open opens the registry.
	open func(context.Context, registry.Config) (*registry.Registry, error)
	// endCopies closes the copies of other nodes' tabs, and the streams served from them.
	endCopies func()
	// stops holds the functions that undo the start. They are called in reverse order.
	stops []func()
}

// replicas returns the number of servers that store the data.
func (c Cluster) replicas() int {
	servers := len(c.NATS)
	if c.role() == clusterServer {
		servers = len(c.Routes)
	}
	switch {
	case c.Replicas != 0:
		return c.Replicas
	case servers >= 3 || c.CredsFile != "":
		return 3
	}
	return 1
}

// setMember calls accepts, which reports whether the node accepts sessions, and records the result. It does both under the lock, so the
// last caller has the newest result.
func (r *readiness) setMember(accepts func() bool) { r.set(&r.member, accepts) }

// openCluster connects to NATS and creates what does not depend on tabs.
func openCluster(ctx context.Context, cfg Config) (clusterNode, error) {
	j := &clusterMember{cfg: cfg, log: cfg.Logger, stopAnswering: func() {}}
	j.ctx, j.end = context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeoutCause(ctx, joinLimit, fmt.Errorf("a majority of the servers did not answer within %v", joinLimit))
	defer cancel()
	if err := j.connect(ctx); err != nil {
		j.close()
		return nil, fmt.Errorf("cluster %s: %w", cfg.Cluster.Name, err)
	}
	j.member = member.New(j.ctx, member.Config{
		States: j.states, MaxSessions: cfg.MaxSessions, Explain: directory.Explain, Leaving: j.stopPublishing, Logger: cfg.Logger,
		Client: func(session string) string {
			client, _ := quota(0)(session)
			return client
		},
	})
	return j, nil
}

// connect starts the NATS server if this node runs one, connects, and opens the stored data.
func (j *clusterMember) connect(ctx context.Context) error {
	c := j.cfg.Cluster
	token, err := listen.ReadToken(c.TokenFile)
	if err != nil {
		return fmt.Errorf("--cluster-token-file: %w", err)
	}
	if j.credentials, err = peers.LoadCredentials(token, c.CertFile, c.KeyFile, c.CAFile); err != nil {
		return err
	}
	var config net.ListenConfig
	if j.listener, err = config.Listen(ctx, "tcp", c.Listen); err != nil {
		return fmt.Errorf("--cluster-listen: %w", err)
	}
	client := embedded.Client{Name: c.Node, URLs: c.NATS, CredsFile: c.CredsFile, Logger: j.log}
	if c.allTLS() && c.CredsFile == "" { // an existing NATS does not use the certificates of the cluster
		client.TLS = &embedded.TLS{CertFile: c.CertFile, KeyFile: c.KeyFile, CAFile: c.CAFile}
	}
	if c.CredsFile == "" {
		client.Secret = embedded.Secret(token)
	}
	if c.role() == clusterServer {
		s, err := embedded.Start(ctx, embedded.Config{
			Name: c.Node, Cluster: c.Name, StoreDir: c.StoreDir, Listen: c.NATSListen, RouteListen: c.RouteListen, Routes: c.Routes,
			Secret: embedded.Secret(token), TLS: client.TLS, Logger: j.log,
		})
		if err != nil {
			return err
		}
		j.stops = append(j.stops, s.Close)
		client.Server = s
	}
	conn, err := embedded.Connect(ctx, client)
	if err != nil {
		return err
	}
	j.stops = append(j.stops, conn.Close)
	if j.states, err = registry.OpenStates(ctx, conn, c.replicas(), []byte(token)); err != nil {
		return err
	}
	j.open = func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
		cfg.Replicas = c.replicas()
		return registry.Open(ctx, conn, cfg)
	}
	j.records, err = logs.Open(ctx, conn, c.replicas(), j.log)
	return err
}

func (j *clusterMember) prepare(tabs *tabpool.Config, all *sessions.Config) {
	tabs.RestoreStore, tabs.KeepAll, tabs.MayAct = j.member, true, j.member.MayAct
	tabs.Opaque = func(string) bool { return true } // numbers could collide with tabs of other nodes
	all.Registrar = j.member
	tabs.Elsewhere, all.Elsewhere = j.member.TabsElsewhere, j.member.SessionsElsewhere
}

func (j *clusterMember) join(ctx context.Context, s *services, calls *server.Config) error {
	ctx, cancel := context.WithTimeoutCause(ctx, joinLimit, fmt.Errorf("a majority of the servers did not answer within %v", joinLimit))
	defer cancel()
	j.member.Use(s.pool, s.sessions)
	var err error
	j.node, err = cluster.Join(ctx, cluster.Config{
		ID: j.cfg.Cluster.Node, Address: j.address(), Version: j.cfg.Version, Role: j.cfg.Cluster.role(), Open: j.open, Host: j.member, States: j.states, Logger: j.log,
	})
	if err != nil {
		return err
	}
	j.stops = append(j.stops, func() {
		ctx, cancel := context.WithTimeout(j.ctx, leaveLimit)
		defer cancel()
		j.node.Close(ctx)
		s.sessions.Wait() // sessions that were fenced
	})
	j.member.Start(j.node)
	j.stops = append(j.stops, sync.OnceFunc(j.member.Close))
	copied, err := j.replicate(s.pool)
	if err != nil {
		return err
	}
	j.proxy, err = peers.New(peers.Config{
		Directory: directory.New(j.node), Credentials: j.credentials, Copies: copied, Begin: j.member.Begin, Logger: j.log,
		MaxRequest: 2 * j.cfg.Limits.RequestBytes, MaxAnswer: j.cfg.Limits.ResponseBytes,
	})
	if err != nil {
		return err
	}
	j.stops = append(j.stops, j.proxy.Close)
	calls.Peers, calls.Node, calls.Cluster = j.proxy, j.cfg.Cluster.Node, admin.New(j.cfg.Cluster.Name, j.node)
	return nil
}

// address returns the address at which other nodes call this one.
func (j *clusterMember) address() string {
	if at := j.cfg.Cluster.Address; at != "" {
		return at
	}
	host, _, _ := net.SplitHostPort(j.cfg.Cluster.Listen) // Check has validated it
	_, port, _ := net.SplitHostPort(j.listener.Addr().String())
	return net.JoinHostPort(host, port)
}

// tabCopies implements peers.Copies with the copies of other nodes' tabs.
type tabCopies struct{ *replication.Replicas }

// Open implements peers.Copies.
func (c tabCopies) Open(ctx context.Context, tab string, owner peers.Node) (tabview.Source, func(), error) {
	return c.Replicas.Open(ctx, tab, owner.Process())
}

// Recent implements peers.Copies.
func (c tabCopies) Recent(tab string, owner peers.Node, age time.Duration, of tabview.Selection) (tabview.Source, bool) {
	return c.Replicas.Recent(tab, owner.Process(), age, of.Watch())
}

// replicate publishes this node's tabs while other nodes follow them, and keeps copies of other nodes' tabs.
func (j *clusterMember) replicate(pool *tabpool.Pool) (peers.Copies, error) {
	j.owner = replication.NewOwner(j.ctx, replication.OwnerConfig{
		Log: j.records, Logger: j.log, Allowed: func() bool { return !errors.Is(j.node.Err(), cluster.ErrFenced) },
		Tab: func(id string) (replication.Tab, uint64, error) {
			tab, err := pool.Tab(id)
			if err != nil {
				return nil, 0, err
			}
			token, err := j.node.Token(tab.Session())
			if err == nil && !j.member.Has(tab.Session()) {
				err = cluster.ErrElsewhere
			}
			return tab, token, err
		},
	})
	j.stops = append(j.stops, j.owner.Close)
	if err := j.answer(); err != nil {
		return nil, err
	}
	j.stops = append(j.stops, func() { j.stopAnswering() })
	all := replication.NewReplicas(j.ctx, j.process(), replication.LogTransport(j.records), j.log)
	j.endCopies = sync.OnceFunc(all.Close)
	j.stops = append(j.stops, j.endCopies)
	j.copies = tabCopies{all}
	return j.copies, nil
}

// process returns the name of this incarnation of the node.
func (j *clusterMember) process() string {
	here := j.node.Here()
	return peers.Node{ID: here.Node, Incarnation: here.Incarnation}.Process()
}

// answer lets other nodes request this node's tabs under the name of its incarnation, which changes after the node was cut off. The
// goroutine that starts the node calls answer first, then the one that watches its health.
func (j *clusterMember) answer() error {
	name := j.process()
	if name == j.answers {
		return nil
	}
	stop, err := j.records.Answer(j.ctx, name, j.owner.Answer)
	if err != nil {
		return err
	}
	j.stopAnswering()
	j.answers, j.stopAnswering = name, stop
	return nil
}

// stopPublishing stops publishing tabs that leave this node.
func (j *clusterMember) stopPublishing(tabs []string) {
	if j.owner != nil {
		j.owner.Leave(tabs...)
	}
}

func (j *clusterMember) start(s *services) error {
	front, err := peers.NewServer(s.server, peers.ServerConfig{
		Listener: j.listener, Credentials: j.credentials, Logger: j.log,
		MaxRequest: 2 * j.cfg.Limits.RequestBytes, MaxAnswer: j.cfg.Limits.ResponseBytes,
	})
	if err != nil {
		return err
	}
	s.server.AddFront(front)
	j.log.Info("a node of a cluster", "cluster", j.cfg.Cluster.Name, "node", j.cfg.Cluster.Node, "address", j.address())
	return nil
}

func (j *clusterMember) drainBeforeStop(ctx context.Context, s *services) (until context.Context, stop func()) {
	until, end := context.WithCancel(context.WithoutCancel(ctx))
	serving, over := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { j.watchHealth(until, s.ready) })
	running.Go(func() {
		defer end()
		<-serving.Done()
		if ctx.Err() == nil {
			return // the server has failed
		}
		j.drain(until, s.ready)
	})
	return until, func() {
		over()
		running.Wait()
	}
}

// watchHealth reports whether the node accepts sessions, until ctx ends.
func (j *clusterMember) watchHealth(ctx context.Context, ready *readiness) {
	tick := time.NewTicker(fenceInterval)
	defer tick.Stop()
	for {
		ready.setMember(j.takesSessions)
		if err := j.answer(); err != nil {
			j.log.Warn("other nodes cannot follow the tabs of this one yet", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// takesSessions reports whether the node has its lease and is not stopping.
func (j *clusterMember) takesSessions() bool { return !j.stopping.Load() && j.node.Err() == nil }

// drain moves as many sessions to other nodes as the time permits.
func (j *clusterMember) drain(ctx context.Context, ready *readiness) {
	j.stopping.Store(true)
	ready.setMember(j.takesSessions)
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel() // a node that is cut off cannot move its sessions
		j.untilFenced(ctx)
	})
	if _, err := j.node.Operations().Evacuate(ctx); err != nil {
		j.log.Warn("the node stops before all sessions have moved", "error", err)
	}
	cancel()
	watching.Wait()
	j.node.Operations().Halt()
	j.member.Close() // tabs that end after this stay registered
	// Streams of other nodes' tabs do not end by themselves and would keep the server from stopping.
	j.proxy.EndStreams()
	j.endCopies()
}

// untilFenced returns when the node is cut off or ctx ends.
func (j *clusterMember) untilFenced(ctx context.Context) {
	tick := time.NewTicker(fenceInterval)
	defer tick.Stop()
	for !errors.Is(j.node.Err(), cluster.ErrFenced) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// close undoes the start in reverse order.
func (j *clusterMember) close() {
	for _, stop := range slices.Backward(j.stops) {
		stop()
	}
	j.end()
	if j.listener != nil {
		_ = j.listener.Close() // the server has closed it if one was started
	}
}
