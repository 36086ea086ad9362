// Package intercept has what every call passes before and after its handler: the usage record, the log,
// access, limits, the deadline, and the checks of requests and errors. Fronts pass their calls through the
// same chains as gRPC.
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

	"github.com/domtap/domtap/internal/server/check"
	"github.com/domtap/domtap/internal/server/deadline"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/server/limit"
	"github.com/domtap/domtap/internal/server/metering"
	"github.com/domtap/domtap/internal/server/rpcstatus"
	"github.com/domtap/domtap/internal/server/trailers"
)

// Config sets up a Chain.
type Config struct {
	// Clients are who may call.
	Clients *identity.Clients
	// Usage records what calls cost.
	Usage *metering.Recorder
	// Limits are what clients may use.
	Limits *limit.Limits
	// Logger gets a record of every call.
	Logger *slog.Logger
	// CallTimeout is the deadline of a unary call whose client set none.
	CallTimeout time.Duration
	// Metrics count the calls. Nil: nothing is measured.
	Metrics Metrics
	// Peers pass calls on. Nil: this daemon serves all of its calls.
	Peers Peers
	// Timelines show the calls that this daemon serves, and hold those of paused clients.
	Timelines Timelines
}

// Timelines are what every unary call passes last that this daemon serves.
type Timelines interface {
	Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error)
}

// Peers pass on the calls about tabs and sessions of other nodes of a cluster. Their methods are interceptors, and get
// calls that are admitted and valid.
type Peers interface {
	Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error)
	Stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error
}

// Metrics count calls.
type Metrics interface {
	Unary() grpc.UnaryServerInterceptor
	Stream() grpc.StreamServerInterceptor
}

// Chain is what every call of a server passes.
type Chain struct {
	cfg    Config
	access access
	limits requestLimits
	log    callLog
}

// New makes the chain of a server.
func New(cfg Config) *Chain {
	return &Chain{
		cfg:    cfg,
		access: access{cfg.Clients},
		limits: requestLimits{cfg.Limits, new(atomic.Int32)},
		log:    callLog{cfg.Logger},
	}
}

// Authorize returns an error unless the peer and the metadata in ctx are those of a caller who may call.
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
		checkUnary,
	)
	if c.cfg.Peers != nil { // before the deadline, which the node that serves the call sets
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
		checkStream,
	)
	if c.cfg.Peers != nil {
		all = append(all, c.cfg.Peers.Stream)
	}
	return append(all, recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(c.recovered)))
}

func (c *Chain) recovered(ctx context.Context, _ any) error {
	return rpcstatus.Recovered(ctx, c.cfg.Logger)
}

// fitUnary makes every error short enough for all clients; see package trailers.
func fitUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	return resp, fit(err)
}

// fitStream does the same for streams.
func fitStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return fit(handler(srv, stream))
}

// fit shortens the status that gRPC makes of an error.
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

// checkUnary refuses invalid requests and gives every error of a handler its status.
func checkUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := Check(req); err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	return resp, rpcstatus.From(err)
}

// checkStream does the same for streams.
func checkStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return rpcstatus.From(handler(srv, checkedStream{stream}))
}

// checkedStream checks the requests that it receives.
type checkedStream struct{ grpc.ServerStream }

// RecvMsg receives a message and refuses an invalid one.
func (s checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return Check(m)
}

// Check returns the error for a request that the API does not allow.
func Check(m any) error {
	if message, ok := m.(proto.Message); ok {
		return rpcstatus.From(check.Request(message))
	}
	return nil
}
