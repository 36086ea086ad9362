package peers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/server/rpc/graceful"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview/wire"
)

// Calls provides the services and interceptors for the calls. server.Server implements it.
type Calls interface {
	// Register registers the services.
	Register(grpc.ServiceRegistrar)
	// Interceptors returns the interceptors of every call, outermost first.
	Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor)
	// Stats returns the handler for the events of calls.
	Stats() stats.Handler
}

// ServerConfig sets up a Server.
type ServerConfig struct {
	// Listener accepts the connections of other nodes, without TLS, which the Server adds. The Server closes the listener.
	Listener net.Listener
	// Credentials are this node's credentials. Without a certificate, the listener must be on loopback.
	Credentials Credentials
	// MaxRequest and MaxAnswer limit the size of messages in bytes. Zero selects 24 MiB and 64 MiB.
	MaxRequest, MaxAnswer int
	// Logger logs calls that are refused because they do not come from another node. If nil, nothing is logged.
	Logger *slog.Logger
}

// handshakeTimeout limits the time until a new connection can carry calls.
const handshakeTimeout = 5 * time.Second

// Default limits on message sizes. The first is twice the limit of package limit, because package intercept rejects larger requests with a
// better message than gRPC.
const (
	defaultMaxRequest = 24 << 20
	defaultMaxAnswer  = listen.MaxMessage
)

// Server serves the calls that other nodes pass on. It implements server.Front.
type Server struct {
	cfg  ServerConfig
	grpc *grpc.Server
}

// NewServer creates a Server. It accepts no connections before Serve.
func NewServer(calls Calls, cfg ServerConfig) (*Server, error) {
	if calls == nil || cfg.Listener == nil {
		return nil, errors.New("a server for nodes needs calls to serve and a listener")
	}
	if err := cfg.Credentials.check(); err != nil {
		return nil, err
	}
	secure, err := cfg.Credentials.serving(cfg.Listener.Addr())
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.MaxRequest, cfg.MaxAnswer = withDefaults(cfg.MaxRequest, cfg.MaxAnswer)
	s := &Server{cfg: cfg}
	unary, stream := calls.Interceptors()
	s.grpc = grpc.NewServer(
		grpc.Creds(secure),
		grpc.ChainUnaryInterceptor(append([]grpc.UnaryServerInterceptor{s.unary}, unary...)...),
		grpc.ChainStreamInterceptor(append([]grpc.StreamServerInterceptor{s.stream}, stream...)...),
		grpc.ForceServerCodecV2(wire.Codec()),
		grpc.StatsHandler(callStats{calls.Stats()}),
		grpc.MaxRecvMsgSize(cfg.MaxRequest),
		grpc.MaxSendMsgSize(cfg.MaxAnswer),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.WaitForHandlers(true),
		grpc.StaticStreamWindowSize(listen.StreamWindow),
		grpc.StaticConnWindowSize(listen.ConnectionWindow),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 2, PermitWithoutStream: true}),
	)
	calls.Register(s.grpc)
	return s, nil
}

func withDefaults(request, answer int) (int, int) {
	if request == 0 {
		request = defaultMaxRequest
	}
	if answer == 0 {
		answer = defaultMaxAnswer
	}
	return request, answer
}

// Serve serves until Stop is called.
func (s *Server) Serve() error { return s.grpc.Serve(s.cfg.Listener) }

// Stop accepts no more calls. It lets calls in progress finish until ctx ends, and then aborts the rest. It returns when no call is left.
func (s *Server) Stop(ctx context.Context) { graceful.Stop(ctx, s.grpc) }

// admit returns the context of a call that another node has passed on. It refuses all other calls.
func (s *Server) admit(ctx context.Context, method string) (context.Context, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	token := one(md, tokenKey)
	if len(token) < len(tokenPrefix) || !s.cfg.Credentials.has(token[len(tokenPrefix):]) {
		s.cfg.Logger.ErrorContext(ctx, "refused a call to the address for nodes without the token of the cluster", "method", method)
		return nil, status.Error(codes.Unauthenticated, "the call does not have the token of the cluster: "+
			"clients must call the client address of this node, and all nodes need the same token")
	}
	p, err := parseForwarded(md)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "refused a call of another node", "method", method, "error", err)
		return nil, status.Error(codes.Unauthenticated, err.Error())
	}
	return p.context(ctx, md), nil
}

// unary admits a call.
func (s *Server) unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := s.admit(ctx, call.FullMethod)
	if err != nil {
		return nil, err
	}
	if err := grpc.SetTrailer(ctx, metadata.Pairs(servedKey, set)); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// stream admits a stream.
func (s *Server) stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := s.admit(stream.Context(), call.FullMethod)
	if err != nil {
		return err
	}
	stream.SetTrailer(metadata.Pairs(servedKey, set))
	return handler(srv, admittedStream{stream, ctx})
}

// admittedStream is the stream of an admitted call.
type admittedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the context with the caller's identity.
func (s admittedStream) Context() context.Context { return s.ctx }

// callStats forwards call events but no connection events, because nodes are not clients. It records no usage for the parts of a list,
// because the node that merges them records the call.
type callStats struct{ stats.Handler }

// TagRPC starts the record of a call.
func (c callStats) TagRPC(ctx context.Context, call *stats.RPCTagInfo) context.Context {
	if md, _ := metadata.FromIncomingContext(ctx); isPart(md) {
		return metering.WithoutRecord(ctx)
	}
	return c.Handler.TagRPC(ctx, call)
}

// TagConn does nothing.
func (c callStats) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (c callStats) HandleConn(context.Context, stats.ConnStats) {}
