// Package intercept contains the interceptors that every call passes before and after its handler: the usage record, the log, access,
// limits, the deadline, and the checks of requests and errors. Fronts use the same chains as gRPC.
package intercept

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rpc/trailers"
	"github.com/domtap/domtap/internal/server/rules"
)

// Config sets up a Chain.
type Config struct {
	// Clients lists the clients that may call.
	Clients *identity.Clients
	// Usage records the costs of calls.
	Usage *metering.Recorder
	// Limits restricts what clients may use.
	Limits *limit.Limits
	// Rules are the rules of the requests of all services.
	Rules rules.Table
	// Logger receives a record of every call.
	Logger *slog.Logger
	// CallTimeout is the deadline of a unary call whose client set none.
	CallTimeout time.Duration
	// Metrics counts calls. If nil, nothing is counted.
	Metrics Metrics
	// Peers forwards calls to other nodes. If nil, this daemon serves all calls itself.
	Peers Peers
	// Timelines records the calls that this daemon serves, and holds the calls of paused clients.
	Timelines Timelines
}

// Timelines intercepts every unary call that this daemon serves itself.
type Timelines interface {
	Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error)
}

// Peers forwards the calls about tabs and sessions of other nodes. Its methods are interceptors, and receive calls that are authorized and
// valid.
type Peers interface {
	Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error)
	Stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error
}

// Metrics counts calls.
type Metrics interface {
	Unary() grpc.UnaryServerInterceptor
	Stream() grpc.StreamServerInterceptor
}

// Chain holds the interceptors of a server.
type Chain struct {
	cfg    Config
	access access
	limits requestLimits
	log    callLog
}

// New returns the chain of a server.
func New(cfg Config) *Chain {
	return &Chain{
		cfg:    cfg,
		access: access{cfg.Clients},
		limits: requestLimits{cfg.Limits, new(atomic.Int32)},
		log:    callLog{cfg.Logger},
	}
}

// Authorize returns an error unless the peer and the metadata in ctx identify a caller with access.
func (c *Chain) Authorize(ctx context.Context) error {
	_, err := c.access.grant(ctx)
	return err
}

// Unary returns the interceptors of unary calls, outermost first.
func (c *Chain) Unary() []grpc.UnaryServerInterceptor {
	var all []grpc.UnaryServerInterceptor
	if c.cfg.Metrics != nil {
		all = append(all, c.cfg.Metrics.Unary())
	}
	all = append(all,
		fitUnary,
		c.cfg.Usage.Unary,
		interceptors.UnaryServerInterceptor(interceptors.CommonReportableFunc(c.log.report)),
		c.access.unary,
		c.limits.unary,
		validity{c.cfg.Rules}.unary,
	)
	if c.cfg.Peers != nil { // before the deadline, which the serving node sets
		all = append(all, c.cfg.Peers.Unary)
	}
	return append(all,
		deadline.Unary(c.cfg.CallTimeout),
		c.cfg.Timelines.Unary,
		recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(c.recovered)),
	)
}

// Stream returns the interceptors of streams, outermost first.
func (c *Chain) Stream() []grpc.StreamServerInterceptor {
	var all []grpc.StreamServerInterceptor
	if c.cfg.Metrics != nil {
		all = append(all, c.cfg.Metrics.Stream())
	}
	all = append(all,
		fitStream,
		c.cfg.Usage.Stream,
		interceptors.StreamServerInterceptor(interceptors.CommonReportableFunc(c.log.report)),
		c.access.stream,
		c.limits.stream,
		validity{c.cfg.Rules}.stream,
	)
	if c.cfg.Peers != nil {
		all = append(all, c.cfg.Peers.Stream)
	}
	return append(all, recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(c.recovered)))
}

func (c *Chain) recovered(ctx context.Context, _ any) error {
	return rpcstatus.Recovered(ctx, c.cfg.Logger)
}

// fitUnary shortens errors so that every client accepts them. See package trailers.
func fitUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	return resp, fit(err)
}

// fitStream shortens the errors of streams.
func fitStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return fit(handler(srv, stream))
}

// fit shortens the status of an error.
func fit(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	if fitting := trailers.Fit(s); fitting != s {
		return fitting.Err()
	}
	return err
}

// validity refuses invalid requests, and converts the errors of handlers to statuses.
type validity struct{ rules rules.Table }

func (c validity) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := c.check(req); err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	return resp, rpcstatus.From(err)
}

func (c validity) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return rpcstatus.From(handler(srv, checkedStream{stream, c}))
}

// check returns an error for a request that the API does not allow.
func (c validity) check(m any) error {
	if message, ok := m.(proto.Message); ok {
		return rpcstatus.From(c.rules.Check(message))
	}
	return nil
}

// checkedStream checks the requests that it receives.
type checkedStream struct {
	grpc.ServerStream
	validity
}

// RecvMsg receives a message and refuses an invalid one.
func (s checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return s.check(m)
}
