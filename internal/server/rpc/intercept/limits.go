package intercept

import (
	"context"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/preauth"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// requestLimits enforces the limits of a client.
type requestLimits struct {
	limits *limit.Limits
	// healthStreams counts the open streams of the health service, which needs no credentials.
	healthStreams *atomic.Int32
}

// unary refuses calls that exceed a limit, and answers that are too large.
func (l requestLimits) unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if public[call.FullMethod] { // health checks are never limited
		return handler(ctx, req)
	}
	if err := l.checkSize(ctx, req); err != nil {
		return nil, rpcstatus.From(err)
	}
	resp, err := handler(ctx, req)
	if err == nil && mayBeLarge(resp) {
		err = rpcstatus.From(l.limits.CheckAnswer(sizeOf(resp)))
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// checkSize checks all limits of a call except the number of streams.
func (l requestLimits) checkSize(ctx context.Context, req any) error {
	if err := l.limits.Connected(ctx); err != nil {
		return err
	}
	if err := l.limits.Call(connections.Client(ctx)); err != nil {
		return err
	}
	return l.limits.CheckRequest(sizeOf(req))
}

// stream does the same as unary for streams.
func (l requestLimits) stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if public[call.FullMethod] {
		return l.healthStream(srv, stream, handler)
	}
	ctx := stream.Context()
	if err := l.checkSize(ctx, nil); err != nil {
		return rpcstatus.From(err)
	}
	release, err := l.limits.Stream(connections.Client(ctx))
	if err != nil {
		return rpcstatus.From(err)
	}
	defer release()
	return handler(srv, limitedStream{stream, l.limits})
}

// limitedStream refuses messages that are too large.
type limitedStream struct {
	grpc.ServerStream
	limits *limit.Limits
}

// RecvMsg receives a message and refuses one that is too large.
func (s limitedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return rpcstatus.From(s.limits.CheckRequest(sizeOf(m)))
}

// SendMsg sends a message, unless it is too large.
func (s limitedStream) SendMsg(m any) error {
	if encoded, ok := m.(sized); ok { // other messages of a stream are small
		if err := s.limits.CheckAnswer(encoded.Size()); err != nil {
			return rpcstatus.From(err)
		}
	}
	return s.ServerStream.SendMsg(m)
}

// sized is implemented by the encoded messages of package wire.
type sized interface{ Size() int }

func sizeOf(m any) int {
	switch m := m.(type) {
	case sized:
		return m.Size()
	case proto.Message:
		return proto.Size(m)
	}
	return 0
}

// unmeasuredElements is a number of elements that always fit into an answer of the default size, because their fields are bounded. Such
// answers are not measured, because measuring would take as long as encoding. gRPC still refuses an answer that is too large.
const unmeasuredElements = 2000

func mayBeLarge(m any) bool {
	page, ok := m.(*domtapv1.GetDomResponse)
	return !ok || len(page.GetElements()) > unmeasuredElements
}

// maxHealthStreams limits the streams of the health service, which any peer can open.
const maxHealthStreams = 100

func (l requestLimits) healthStream(srv any, stream grpc.ServerStream, handler grpc.StreamHandler) error {
	defer l.healthStreams.Add(-1)
	if l.healthStreams.Add(1) > maxHealthStreams {
		return rpcstatus.From(&limit.Exceeded{Limit: "health_streams", Max: strconv.Itoa(maxHealthStreams), Message: "there are " + strconv.Itoa(maxHealthStreams) +
			" streams of the health service, which is the limit: ask with Check instead"})
	}
	if p, ok := peer.FromContext(stream.Context()); ok {
		defer preauth.Exempt(p.Addr)()
	}
	return handler(srv, stream)
}
