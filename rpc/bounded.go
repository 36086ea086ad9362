package rpc

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/identity"
	"github.com/domtap/domtap/rpc/limit"
	"github.com/domtap/domtap/rpc/rpcstatus"
	"github.com/domtap/domtap/rpc/wire"
)

// clientOf names who makes a call, to count by: a named client, or one of the operator's connections, whose programs have each an
// allowance of their own.
func clientOf(ctx context.Context) string {
	if who := identity.From(ctx); !who.IsOperator() {
		return who.Name()
	}
	id, _ := ctx.Value(connectionKey{}).(uint64)
	return identity.OperatorName + "/" + strconv.FormatUint(id, 10)
}

// boundUnary refuses the calls that exceed a limit, and answers that are too large.
func (s *Server) boundUnary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if open[call.FullMethod] { // the health is told in any case
		return handler(ctx, req)
	}
	if err := s.entry(ctx, req); err != nil {
		return nil, rpcstatus.From(err)
	}
	resp, err := handler(ctx, req)
	if err == nil && mayBeLarge(resp) {
		err = rpcstatus.From(s.limits.Answer(sizeOf(resp)))
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// entry asks all limits of a call but that of streams.
func (s *Server) entry(ctx context.Context, req any) error {
	if err := s.limits.Connected(ctx); err != nil {
		return err
	}
	if err := s.limits.Call(clientOf(ctx)); err != nil {
		return err
	}
	return s.limits.Ask(sizeOf(req))
}

// boundStream does the same for streams.
func (s *Server) boundStream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if open[call.FullMethod] {
		return s.boundHealth(srv, stream, handler)
	}
	ctx := stream.Context()
	if err := s.entry(ctx, nil); err != nil {
		return rpcstatus.From(err)
	}
	release, err := s.limits.Stream(clientOf(ctx))
	if err != nil {
		return rpcstatus.From(err)
	}
	defer release()
	return handler(srv, boundedStream{stream, s})
}

// boundedStream measures what it receives and sends.
type boundedStream struct {
	grpc.ServerStream
	server *Server
}

// RecvMsg receives a message and refuses one that is too large.
func (b boundedStream) RecvMsg(m any) error {
	if err := b.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return rpcstatus.From(b.server.limits.Ask(sizeOf(m)))
}

// SendMsg sends a message, unless it is too large.
func (b boundedStream) SendMsg(m any) error {
	if shared, ok := m.(*wire.Message); ok { // others of a stream are small
		if err := b.server.limits.Answer(shared.Size()); err != nil {
			return rpcstatus.From(err)
		}
	}
	return b.ServerStream.SendMsg(m)
}

func sizeOf(m any) int {
	if message, ok := m.(proto.Message); ok {
		return proto.Size(message)
	}
	return 0
}

// fewElements is how many elements, whose fields are bounded, are never too many for an answer of the usual size: they are not
// measured, which would take as long as to find them. What is too large all the same is refused by gRPC.
const fewElements = 2000

func mayBeLarge(m any) bool {
	page, ok := m.(*domtapv1.GetDomResponse)
	return !ok || len(page.GetElements()) > fewElements
}

// maxHealths is how many streams of the health service there may be. Strangers can open them, too.
const maxHealths = 100

func (s *Server) boundHealth(srv any, stream grpc.ServerStream, handler grpc.StreamHandler) error {
	defer s.healths.Add(-1)
	if s.healths.Add(1) > maxHealths {
		return rpcstatus.From(&limit.Exceeded{Limit: "health_streams", Max: strconv.Itoa(maxHealths), Message: "there are " + strconv.Itoa(maxHealths) +
			" streams of the health service, which is the limit: ask with Check instead"})
	}
	return handler(srv, stream)
}
