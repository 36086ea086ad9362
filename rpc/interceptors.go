package rpc

import (
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/check"
	"github.com/domtap/domtap/rpc/identity"
	"github.com/domtap/domtap/rpc/limit"
	"github.com/domtap/domtap/rpc/rpcstatus"
	"github.com/domtap/domtap/rpc/trailers"
)

// maxCall is the longest deadline that a unary call may have.
const maxCall = check.MaxTimeout

// grace is what a call gets beyond the timeout of the navigation that it asks for.
const grace = 5 * time.Second

// interceptors returns the chains, outermost first.
func (s *Server) interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor) {
	report := interceptors.CommonReportableFunc(s.report)
	recovered := recovery.WithRecoveryHandlerContext(s.recovered)
	unary := []grpc.UnaryServerInterceptor{
		fitUnary,
		s.clerk.Unary,
		interceptors.UnaryServerInterceptor(report),
		s.accessUnary,
		s.boundUnary,
		s.deadline,
		checkUnary,
		recovery.UnaryServerInterceptor(recovered),
	}
	stream := []grpc.StreamServerInterceptor{
		fitStream,
		s.clerk.Stream,
		interceptors.StreamServerInterceptor(report),
		s.accessStream,
		s.boundStream,
		checkStream,
		recovery.StreamServerInterceptor(recovered),
	}
	if m := s.cfg.Metrics; m != nil {
		unary = append([]grpc.UnaryServerInterceptor{m.Unary()}, unary...)
		stream = append([]grpc.StreamServerInterceptor{m.Stream()}, stream...)
	}
	return unary, stream
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

// fit bounds the status of an error as gRPC is going to make it.
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

// report starts the log record of a call. It never sees a message: what a page shows and what a client
// types stay out of the log, and so do error messages, which may quote either.
func (s *Server) report(ctx context.Context, call interceptors.CallMeta) (interceptors.Reporter, context.Context) {
	r := &record{logger: s.cfg.Logger, ctx: ctx, method: call.FullMethod()}
	return r, context.WithValue(ctx, recordKey{}, r)
}

type recordKey struct{}

// named notes in the record of a call who makes it.
func named(ctx context.Context, who identity.Principal) {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.client = who.Name()
	}
}

// record logs a call when it has ended.
type record struct {
	interceptors.NoopReporter
	logger *slog.Logger
	ctx    context.Context
	method string
	// client is who calls, once that is known.
	client string
}

// PostCall writes the record.
func (r *record) PostCall(err error, took time.Duration) {
	code := status.Code(err)
	level := callLevel(code)
	if rpcstatus.Limit(err) == limit.Calls { // a client that asks too often does not fill the log, too
		level = slog.LevelDebug
	}
	if !r.logger.Enabled(r.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.method),
		slog.String("code", code.String()),
		slog.Duration("took", took),
		slog.String("peer", peerName(r.ctx)),
	}
	if r.client != "" {
		attrs = append(attrs, slog.String("client", r.client))
	}
	if reason := rpcstatus.Reason(err); reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	r.logger.LogAttrs(r.ctx, level, "call", attrs...)
}

// callLevel is high only for what an operator should look at.
func callLevel(code codes.Code) slog.Level {
	switch code {
	case codes.OK:
		return slog.LevelDebug
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.Unavailable, codes.ResourceExhausted, codes.Unauthenticated:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

func peerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	return p.Addr.Network() + " " + p.Addr.String()
}

// trusted reports whether an address can only be reached by processes of the daemon's own user.
func trusted(addr net.Addr) bool { return addr != nil && addr.Network() == "unix" }

// deadline gives every unary call an end: its limit, and a little before the client's own deadline, so that the client sees what the
// server has to say instead of its own timer.
func (s *Server) deadline(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	limit := s.callLimit(ctx, req)
	ctx, stop := ahead(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return handler(ctx, req)
}

// callLimit is how long a call may take: a little more than the timeout that the request names, or else the configured limit. Turns,
// scripts and batches, which have no such timeout for the whole, may take as long as the client says. Nothing takes more than 5 minutes.
func (s *Server) callLimit(ctx context.Context, req any) time.Duration {
	_, bounded := ctx.Deadline()
	switch r := req.(type) {
	case *domtapv1.BatchRequest:
		if !bounded {
			return min(batchLimit(r), maxCall)
		}
		return maxCall
	case *domtapv1.InteractRequest, *domtapv1.FillFormRequest, *domtapv1.EvaluateRequest:
		if bounded {
			return maxCall
		}
	case interface{ GetTimeout() *durationpb.Duration }:
		if r.GetTimeout() != nil {
			return min(r.GetTimeout().AsDuration()+grace, maxCall)
		}
	}
	return s.cfg.CallTimeout
}

// lead is how long before its client's deadline a call is answered.
const lead = 100 * time.Millisecond

// ahead ends a context a little before its deadline, if it has one: a quarter of the time at most.
func ahead(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(lead, time.Until(deadline)/4)))
}

// checkUnary refuses bad requests, and gives every error of a handler its status.
func checkUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := checkMessage(req); err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	return resp, rpcstatus.From(err)
}

// checkStream does the same for streams.
func checkStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return rpcstatus.From(handler(srv, checkedStream{stream}))
}

// checkedStream checks what it receives.
type checkedStream struct{ grpc.ServerStream }

// RecvMsg receives a message and refuses a bad one.
func (s checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return checkMessage(m)
}

func checkMessage(m any) error {
	if message, ok := m.(proto.Message); ok {
		return rpcstatus.From(check.Request(message))
	}
	return nil
}

// recovered turns a panic of a handler into an error. Only the log learns where it happened; the
// panic's value could hold page content and goes nowhere.
func (s *Server) recovered(ctx context.Context, _ any) error {
	s.cfg.Logger.ErrorContext(ctx, "a handler panicked", slog.String("stack", string(debug.Stack())))
	return rpcstatus.New(codes.Internal, "the daemon hit a fault of its own: its log has the details; please report it")
}
