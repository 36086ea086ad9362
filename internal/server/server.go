// Package server serves the daemon's gRPC API. A Server is made once with the pool of tabs that it serves. A call
// passes these packages:
//
//	connections → intercept (metering, log, access, limit, check, peers, deadline) → services → authz → actor
//	                                                                          ├ streaming, waits, capture
//	                                                                          └ views, textcache, convert
//
// What it guarantees:
//
//   - A view is computed per call from an immutable snapshot. No call changes what another sees.
//   - Every error leaves with a code from one table (package rpcstatus) and says what to do next.
//   - A connection that does not come over a unix socket must present a bearer token or a certificate.
//   - A stream is a cursor on a tab's head: a slow reader gets fewer, larger messages, and delays no
//     other reader. It ends with a reason.
//   - Neither the log nor an error of another client ever holds page content or typed text.
//
// The caller makes the listeners (package listen), owns the pool until it calls Serve, and gets it
// back closed when Serve returns.
package server

import (
	"context"
	"crypto/rand"
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
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/connections"
	"github.com/domtap/domtap/internal/server/graceful"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/server/intercept"
	"github.com/domtap/domtap/internal/server/limit"
	"github.com/domtap/domtap/internal/server/listen"
	"github.com/domtap/domtap/internal/server/metering"
	"github.com/domtap/domtap/internal/server/recorder"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpcstatus"
	"github.com/domtap/domtap/internal/server/services"
	"github.com/domtap/domtap/internal/server/streaming"
	"github.com/domtap/domtap/internal/server/timelines"
	"github.com/domtap/domtap/internal/server/uploads"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/server/wire"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// MaxMessage is the largest message in bytes that the server sends. Clients whose own limit is
// smaller (4 MiB by default) should raise it, or ask for less of a large page.
const MaxMessage = listen.MaxMessage

const (
	// maxStreams bounds the calls that one connection has under way.
	maxStreams = 4096
	// handshakeLimit is how long a connection may take until it can carry calls. A silent connection delays
	// the end of the server by as much.
	handshakeLimit = 5 * time.Second
)

// Config sets up a Server. The zero value serves unix sockets only.
type Config struct {
	// Version is that of the program; empty: it is not known.
	Version string
	// Token is what connections over anything but a unix socket must present as
	// "authorization: Bearer TOKEN". If it is empty, Serve refuses such listeners.
	Token string
	// Clients may call over anything but a unix socket. Nil: only clients with Token.
	Clients *identity.Clients
	// Logger gets one record for every call: method, code, reason, duration and peer. Nil: no log.
	Logger *slog.Logger
	// CallTimeout is the deadline of a unary call whose client set none. 0: 30 s.
	CallTimeout time.Duration
	// StopTimeout is how long the tabs may take to close when the server stops, and then again how long
	// the calls may take to end. 0: 5 s.
	StopTimeout time.Duration
	// Heartbeat is how long a stream is silent before it sends a heartbeat. 0: 15 s.
	Heartbeat time.Duration
	// SendTimeout is how long a reader may leave a message of a stream untaken. 0: 30 s.
	SendTimeout time.Duration
	// Uploads says which files of this machine pages may get. The zero value: none.
	Uploads uploads.Policy
	// AllowEval lets clients run scripts in pages (Evaluate).
	AllowEval bool
	// Searcher searches the web. Nil: Search has no providers.
	Searcher *search.Searcher
	// Limits are what clients may use. The zero value bounds the sizes of messages only.
	Limits limit.Config
	// Traces gets the events of connections and calls, to trace them. Nil: nothing is traced.
	Traces stats.Handler
	// Metrics counts what the server does. Nil: nothing is measured.
	Metrics Metrics
	// Node is the name of the node of a cluster that the daemon is, and Cluster operates that. Empty and nil: there is no cluster.
	Node    string
	Cluster domtapv1.ClusterServiceServer
	// Peers pass on the calls about what other nodes of a cluster have. Nil: there is no cluster.
	Peers intercept.Peers
	// Recording says where recordings of tabs go. Without a directory, tabs cannot be recorded.
	Recording recorder.Config
	// Replay has recordings that are served instead of live tabs; the pool has no browser then. Nil: tabs are live.
	Replay *replay.Player
	// RecordAll has all tabs recorded, as it says. Nil: those that clients want.
	RecordAll *recorder.Options
	// LivePage is the page that DaemonService starts and stops. Nil: the daemon has none.
	LivePage services.LivePage
	// Sessions are the sessions of the pool. Nil: only the default session exists.
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

// Server is the daemon's gRPC server. It makes its parts, serves and stops; what calls do is in the parts.
type Server struct {
	cfg Config
	// access is the only way to tabs and sessions.
	access *authz.Access
	// views has what the callers have seen of the tabs.
	views *views.Cache
	// usage holds the usage figures, and recorder adds the calls to it.
	usage    *usage.Recorder
	recorder *metering.Recorder
	limits   *limit.Limits
	// connections numbers those of gRPC and of the fronts.
	connections *connections.Tracker
	// calls is what every call passes before its handler.
	calls    *intercept.Chain
	streams  *streaming.Streams
	services *services.Services
	// timelines have what happened on the tabs.
	timelines *timelines.Timelines
	// recordings records tabs; nil: it is off.
	recordings *recorder.Recorder
	// names are the names of the services, but for health and reflection.
	names  []string
	health *health.Server
	grpc   *grpc.Server
	fronts []Front
	// running counts the goroutines that accept connections.
	running sync.WaitGroup
}

// New makes a server for the tabs of the pool.
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
		cfg: cfg, access: authz.New(pool, cfg.Sessions), views: views.New(), limits: limit.New(cfg.Limits), health: health.NewServer(),
		timelines: timelines.New(pool),
	}
	s.usage = usage.New(opened{s.access})
	s.recorder = metering.New(s.usage, s.access.SessionOf, rpcstatus.Reason)
	if cfg.Recording.Dir != "" {
		cfg.Recording.Logger, cfg.Recording.Timelines = cfg.Logger, s.timelines
		s.recordings = recorder.New(context.Background(), pool, cfg.Recording)
	}
	if cfg.Replay != nil {
		if err := cfg.Replay.Attach(pool); err != nil {
			return nil, err
		}
		cfg.Replay.Timelines(s.timelines.Load)
		s.cfg.Peers = replay.Guard{Reads: intercept.Readable}
	}
	s.assemble()
	s.grpc = grpc.NewServer(s.options()...)
	s.register()
	return s, nil
}

// check returns an error for a configuration that makes no sense.
func (c Config) check() error {
	for _, d := range []time.Duration{c.CallTimeout, c.StopTimeout, c.Heartbeat, c.SendTimeout} {
		if d < 0 {
			return fmt.Errorf("invalid timeout %v: it must not be negative", d)
		}
	}
	return c.Limits.Check()
}

// assemble makes the parts that calls pass, from the outside to the handlers.
func (s *Server) assemble() {
	cfg := s.cfg
	tracked := connections.Config{Closed: s.views.Forget, Usage: s.recorder, Limits: s.limits}
	chained := intercept.Config{
		Clients: cfg.Clients, Usage: s.recorder, Limits: s.limits, Logger: cfg.Logger, CallTimeout: cfg.CallTimeout,
		Peers: cfg.Peers, Timelines: s.timelines,
	}
	streamed := streaming.Config{SendTimeout: cfg.SendTimeout, Heartbeat: cfg.Heartbeat, StartTimeout: cfg.CallTimeout}
	if cfg.Metrics != nil {
		tracked.Refused, chained.Metrics, streamed.Metrics = cfg.Metrics.Refused, cfg.Metrics, cfg.Metrics
	}
	s.connections, s.calls, s.streams = connections.New(tracked), intercept.New(chained), streaming.New(streamed)
	s.services = services.New(services.Config{
		DaemonID: rand.Text(), Access: s.access, Views: s.views, Usage: s.usage, Streams: s.streams,
		Uploads: cfg.Uploads, AllowEval: cfg.AllowEval, Searcher: cfg.Searcher, Node: cfg.Node, Cluster: cfg.Cluster,
		LivePage: cfg.LivePage, Logger: cfg.Logger, Timelines: s.timelines, Version: cfg.Version,
		Recorder: s.recordings, Replay: cfg.Replay,
	})
}

// options suit streams that live for days and are mostly silent.
func (s *Server) options() []grpc.ServerOption {
	all := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.calls.Unary()...),
		grpc.ChainStreamInterceptor(s.calls.Stream()...),
		grpc.ForceServerCodecV2(wire.Codec()),
		grpc.Creds(newHandshake()),
		grpc.StatsHandler(s.connections),
		// Package intercept refuses requests of up to twice the limit with a better message than gRPC's.
		grpc.MaxRecvMsgSize(2 * s.limits.Config().RequestBytes),
		grpc.MaxSendMsgSize(s.limits.Config().ResponseBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeLimit),
		grpc.WaitForHandlers(true),
		grpc.StaticStreamWindowSize(listen.StreamWindow),
		grpc.StaticConnWindowSize(listen.ConnectionWindow),
		// A peer that vanished silently is found within a minute.
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

// Serve serves the listeners until ctx ends or one of them fails, then stops: health says
// NOT_SERVING, the pool is closed so that every stream ends with its reason, calls under way may
// finish, and what is left after StopTimeout is cut. When it returns, the listeners and the pool are
// closed and none of the server's goroutines is left. It returns nil when ctx ended it, and may be
// called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	err := s.serve(ctx, listeners)
	err = errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	s.running.Wait()
	s.streams.Wait()
	return err
}

// serve runs the listeners; it returns while they still run.
func (s *Server) serve(ctx context.Context, listeners []net.Listener) error {
	if all := s.cfg.RecordAll; all != nil && s.recordings != nil {
		if _, err := s.recordings.Record(ctx, recorder.Everything(), identity.OperatorName, *all); err != nil {
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

// admit refuses listeners whose clients could not be authenticated.
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

// stop ends everything in bounded time. The pool closes first, because that ends the streams.
func (s *Server) stop(ctx context.Context) error {
	s.health.Shutdown()
	if s.recordings != nil {
		s.recordings.Close()
	}
	closing, cancel := context.WithTimeout(ctx, s.cfg.StopTimeout)
	err := s.access.Shut(closing)
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

// Usage returns the usage that the server has recorded.
func (s *Server) Usage() *usage.Recorder { return s.usage }

// opened tells the usage recorder which sessions and tabs are open.
type opened struct{ access *authz.Access }

func (o opened) HasSession(id string) bool { return o.access.HasSession(id) }

func (o opened) HasTab(id string) bool { return o.access.SessionOf(identity.Operator(), id) != "" }

func (o opened) Owner(session string) string { return identity.OwnerOf(session) }
