// Package server serves the daemon's gRPC API. A Server is created once, with the pool of tabs that it serves. A call passes these
// packages:
//
//	connections → intercept (metering, log, access, limit, rules, peers, deadline) → a service → authz → actor
//	                                                                              ├ tabview, reading, capture, textcache
//	                                                                              └ messages, streaming
//
// A service stands in the package of its name, such as tabs for TabService: its handlers, the rules of its requests, and what only it needs.
//
// Guarantees:
//
//   - Each call computes its view from an immutable snapshot. No call affects the view of another.
//   - Every error has a code from one table (package rpcstatus) and suggests what to do next.
//   - A connection that does not use a unix socket must present a bearer token or a certificate.
//   - A stream is a cursor on a tab's head. A slow reader gets fewer, larger messages and does not delay other readers. Every stream ends
//     with a reason.
//   - Logs, and errors sent to other clients, never contain page content or typed text.
//
// The caller creates the listeners (package listen). It owns the pool until it calls Serve; when Serve returns, the pool is closed.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/actions/uploads"
	"github.com/domtap/domtap/internal/server/daemon"
	"github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/graceful"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/intercept"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/wire"
	"github.com/domtap/domtap/internal/server/timeline"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// MaxMessage is the largest message in bytes that the server sends. Clients with a smaller limit (4 MiB by default) should raise it, or
// request smaller parts of large pages.
const MaxMessage = listen.MaxMessage

const (
	// maxStreams limits the concurrent calls on one connection.
	maxStreams = 4096
	// handshakeLimit limits how long a new connection may take to become usable. A silent connection delays the shutdown of the server by
	// up to this time.
	handshakeLimit = 5 * time.Second
)

// Config sets up a Server. The zero value serves only unix sockets.
type Config struct {
	// Version is the version of the program. It is empty if unknown.
	Version string
	// Token is the bearer token for connections over anything but a unix socket, sent as "authorization: Bearer TOKEN". If it is empty,
	// Serve refuses such listeners.
	Token string
	// Clients lists the clients that may connect over anything but a unix socket. If nil, only clients with Token may.
	Clients *identity.Clients
	// Logger receives one record for every call: method, code, reason, duration and peer. If nil, nothing is logged.
	Logger *slog.Logger
	// CallTimeout is the deadline of unary calls whose client set none. Zero means 30 s.
	CallTimeout time.Duration
	// StopTimeout limits how long the tabs may take to close when the server stops. The calls then have the same time to end. Zero means 5
	// s.
	StopTimeout time.Duration
	// Heartbeat is the time without a message after which a stream sends a heartbeat. Zero means 15 s.
	Heartbeat time.Duration
	// SendTimeout limits how long the send of a stream message may block. Zero means 30 s.
	SendTimeout time.Duration
	// Uploads defines which files of this machine may be uploaded to pages. The zero value allows none.
	Uploads uploads.Policy
	// AllowEval lets clients run scripts in pages, with Evaluate.
	AllowEval bool
	// Searcher searches the web. If nil, Search has no providers.
	Searcher *search.Searcher
	// Limits restricts what clients may use. The zero value limits only message sizes.
	Limits limit.Config
	// Traces receives the events of connections and calls, for tracing. If nil, nothing is traced.
	Traces stats.Handler
	// Metrics counts the server's activity. If nil, nothing is counted.
	Metrics Metrics
	// Node is the name of this node, and Cluster serves the cluster's admin API. Outside a cluster they are empty and nil.
	Node    string
	Cluster domtapv1.ClusterServiceServer
	// Peers forwards calls about tabs and sessions of other nodes. Outside a cluster it is nil.
	Peers intercept.Peers
	// Recording configures where recordings of tabs are stored. Without a directory, tabs cannot be recorded.
	Recording recording.Config
	// Replay serves recordings instead of live tabs; the pool then has no browser. If nil, the tabs are live.
	Replay *replay.Player
	// RecordAll records all tabs with these options. If nil, only tabs that clients select are recorded.
	RecordAll *recording.Options
	// LivePage is the page that DaemonService starts and stops. If nil, the daemon has no live page.
	LivePage daemon.LivePage
	// Sessions holds the sessions of the pool. If nil, only the default session exists.
	Sessions *sessions.Sessions
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		value   *time.Duration
		instead time.Duration
	}{
		{&c.CallTimeout, 30 * time.Second},
		{&c.StopTimeout, 5 * time.Second},
		{&c.Heartbeat, 15 * time.Second},
		{&c.SendTimeout, 30 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.instead
		}
	}
	return c
}

// Server is the daemon's gRPC server. It assembles the parts that handle calls, serves, and stops.
type Server struct {
	cfg Config
	// access provides the only access to tabs and sessions.
	access *authz.Access
	// views records the views that callers have received.
	views *tabview.Cache
	// usage holds the usage figures. recorder adds calls to it.
	usage    *usage.Recorder
	recorder *metering.Recorder
	limits   *limit.Limits
	// connections tracks the connections of gRPC and of the fronts.
	connections *connections.Tracker
	// calls holds the interceptors that every call passes before its handler.
	calls    *intercept.Chain
	streams  *streaming.Streams
	services *services
	// timelines holds the timelines of the tabs.
	timelines *timeline.Timelines
	// recordings records tabs. If nil, recording is off.
	recordings *recording.Recorder
	// names holds the names of the services, without health and reflection.
	names  []string
	health *health.Server
	grpc   *grpc.Server
	fronts []Front
	// running counts the goroutines that accept connections.
	running sync.WaitGroup
}

// New creates a server for the tabs of the pool.
func New(pool *tabpool.Pool, cfg Config) (*Server, error) {
	if pool == nil {
		return nil, errors.New("a server needs a pool of tabs")
	}
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Sessions == nil {
		cfg.Sessions = sessions.New(pool, nil, sessions.Config{Logger: cfg.Logger})
	}
	if cfg.Clients == nil {
		cfg.Clients = identity.New(context.Background(), cfg.Token)
	}
	s := &Server{
		cfg: cfg, access: authz.New(pool, cfg.Sessions), views: tabview.New(), limits: limit.New(cfg.Limits), health: health.NewServer(),
		timelines: timeline.New(pool),
	}
	s.usage = usage.New(openCounts{s.access})
	s.recorder = metering.New(s.usage, s.access.SessionOf, rpcstatus.Reason)
	if cfg.Recording.Dir != "" {
		cfg.Recording.Logger, cfg.Recording.Timelines = cfg.Logger, s.timelines
		s.recordings = recording.New(context.Background(), pool, cfg.Recording)
	}
	if cfg.Replay != nil {
		if err := cfg.Replay.Attach(pool); err != nil {
			return nil, err
		}
		cfg.Replay.Timelines(s.timelines.Load)
		s.cfg.Peers = replay.Guard{Reads: intercept.ReadMethods}
	}
	s.assemble()
	s.grpc = grpc.NewServer(s.options()...)
	s.register()
	return s, nil
}

// check validates the configuration.
func (c Config) check() error {
	for _, d := range []time.Duration{c.CallTimeout, c.StopTimeout, c.Heartbeat, c.SendTimeout} {
		if d < 0 {
			return fmt.Errorf("invalid timeout %v: it must not be negative", d)
		}
	}
	return c.Limits.Check()
}

// assemble creates the parts that calls pass, from the outermost to the handlers.
func (s *Server) assemble() {
	cfg := s.cfg
	tracked := connections.Config{Closed: s.views.Forget, Usage: s.recorder, Limits: s.limits}
	chained := intercept.Config{
		Clients: cfg.Clients, Usage: s.recorder, Limits: s.limits, Rules: requestRules, Logger: cfg.Logger, CallTimeout: cfg.CallTimeout,
		Peers: cfg.Peers, Timelines: s.timelines,
	}
	streamed := streaming.Config{SendTimeout: cfg.SendTimeout, Heartbeat: cfg.Heartbeat, StartTimeout: cfg.CallTimeout}
	if cfg.Metrics != nil {
		tracked.Refused, chained.Metrics, streamed.Metrics = cfg.Metrics.Refused, cfg.Metrics, cfg.Metrics
	}
	s.connections, s.calls, s.streams = connections.New(tracked), intercept.New(chained), streaming.New(streamed)
	s.services = s.newServices()
}

// options returns settings for streams that live for days and are mostly silent.
func (s *Server) options() []grpc.ServerOption {
	all := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.calls.Unary()...),
		grpc.ChainStreamInterceptor(s.calls.Stream()...),
		grpc.ForceServerCodecV2(wire.Codec()),
		grpc.Creds(newHandshake()),
		grpc.StatsHandler(s.connections),
		// The limit is doubled because package intercept refuses requests above the limit itself, with a better message.
		grpc.MaxRecvMsgSize(2 * s.limits.Config().RequestBytes),
		grpc.MaxSendMsgSize(s.limits.Config().ResponseBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeLimit),
		grpc.WaitForHandlers(true),
		grpc.StaticStreamWindowSize(listen.StreamWindow),
		grpc.StaticConnWindowSize(listen.ConnectionWindow),
		// detects a peer that vanished silently within a minute
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 40 * time.Second, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	}
	if s.cfg.Traces != nil {
		all = append(all, grpc.StatsHandler(s.cfg.Traces))
	}
	return all
}

func (s *Server) register() {
	s.Register(s.grpc)
	s.recorder.Count(s.grpc.GetServiceInfo())
	for name := range s.grpc.GetServiceInfo() {
		s.names = append(s.names, name)
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
}

// Serve serves the listeners until ctx ends or one of them fails, and then stops. On stop, health reports NOT_SERVING and the pool is
// closed, which ends every stream with a reason. Calls in flight may finish; after StopTimeout the rest is aborted. When Serve returns, the
// listeners and the pool are closed and no goroutine of the server is left. It returns nil if ctx ended it. It may be called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	err := s.serve(ctx, listeners)
	err = errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	s.running.Wait()
	s.streams.Wait()
	return err
}

// serve runs the listeners. It returns while they are still running.
func (s *Server) serve(ctx context.Context, listeners []net.Listener) error {
	if all := s.cfg.RecordAll; all != nil && s.recordings != nil {
		if _, err := s.recordings.Record(ctx, recording.AllTabs(), identity.OperatorName, *all); err != nil {
			return err
		}
	}
	if err := s.admit(listeners); err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	failed := make(chan error, len(listeners)+len(s.fronts))
	for _, l := range listeners {
		s.running.Go(func() { failed <- s.grpc.Serve(l) })
	}
	for _, f := range s.fronts {
		s.running.Go(func() { failed <- f.Serve() })
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	}
}

// admit returns an error for listeners whose clients could not be authenticated.
func (s *Server) admit(listeners []net.Listener) error {
	if len(listeners) == 0 {
		return errors.New("nothing to listen on: give a socket or an address")
	}
	for _, l := range listeners {
		if s.cfg.Token == "" && !connections.Trusted(l.Addr()) {
			return fmt.Errorf("refusing to listen on %v without a token: give one with --token-file", l.Addr())
		}
	}
	return nil
}

// stop stops all parts in bounded time. It closes the pool first, because that ends the streams.
func (s *Server) stop(ctx context.Context) error {
	s.health.Shutdown()
	if s.recordings != nil {
		s.recordings.Close()
	}
	closing, cancel := context.WithTimeout(ctx, s.cfg.StopTimeout)
	err := s.access.CloseAll(closing)
	cancel()
	ctx, cancel = context.WithTimeout(ctx, s.cfg.StopTimeout)
	defer cancel()
	var fronts sync.WaitGroup
	for _, f := range s.fronts {
		fronts.Go(func() { f.Stop(ctx) })
	}
	defer fronts.Wait()
	graceful.Stop(ctx, s.grpc)
	return err
}

// Usage returns the recorder of the usage figures.
func (s *Server) Usage() *usage.Recorder { return s.usage }

// openCounts reports the open sessions and tabs to the usage recorder.
type openCounts struct{ access *authz.Access }

func (o openCounts) HasSession(id string) bool { return o.access.HasSession(id) }

func (o openCounts) HasTab(id string) bool { return o.access.SessionOf(identity.Operator(), id) != "" }

func (o openCounts) Owner(session string) string { return identity.OwnerOf(session) }
