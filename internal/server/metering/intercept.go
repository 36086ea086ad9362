package metering

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
)

// Unary enters calls that do not come by gRPC, whose stats handler has seen those that do. It is the outermost interceptor.
func (c *Clerk) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if Of(ctx) != nil {
		return handler(ctx, req)
	}
	ctx = c.Tag(ctx, info.FullMethod)
	began := time.Now()
	c.Handle(ctx, &stats.InPayload{Payload: req})
	resp, err := handler(ctx, req)
	if err == nil && Of(ctx) != nil {
		c.Handle(ctx, &stats.OutPayload{Payload: resp, Length: size(resp)})
	}
	c.Handle(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err})
	return resp, err
}

// Stream does the same for streams.
func (c *Clerk) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if Of(stream.Context()) != nil {
		return handler(srv, stream)
	}
	ctx := c.Tag(stream.Context(), info.FullMethod)
	if Of(ctx) == nil {
		return handler(srv, stream)
	}
	began := time.Now()
	c.Handle(ctx, &stats.Begin{IsServerStream: true})
	err := handler(srv, &counted{stream, ctx, c})
	c.Handle(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err})
	return err
}

// counted is a stream whose messages are entered.
type counted struct {
	grpc.ServerStream
	ctx   context.Context
	clerk *Clerk
}

// Context has the note.
func (s *counted) Context() context.Context { return s.ctx }

// RecvMsg takes where the stream belongs from its request.
func (s *counted) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.clerk.Handle(s.ctx, &stats.InPayload{Payload: m})
	}
	return err
}

// SendMsg counts a message that was sent.
func (s *counted) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		s.clerk.Handle(s.ctx, &stats.OutPayload{Payload: m, Length: size(m)})
	}
	return err
}

// size is the size of a message that was not encoded yet, or of one that says it.
func size(m any) int {
	switch m := m.(type) {
	case interface{ Size() int }:
		return m.Size()
	case proto.Message:
		return proto.Size(m)
	}
	return 0
}
