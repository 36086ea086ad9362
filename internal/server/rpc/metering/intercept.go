package metering

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
)

// Unary records calls of fronts. Calls of gRPC are skipped, because the stats handler records them, and so are calls marked by
// WithoutRecord. Unary is the outermost interceptor.
func (r *Recorder) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if ctx.Value(callKey{}) != nil {
		return handler(ctx, req)
	}
	ctx = r.Tag(ctx, info.FullMethod)
	began := time.Now()
	r.Handle(ctx, &stats.InPayload{Payload: req})
	resp, err := handler(ctx, req)
	if err == nil && FromContext(ctx) != nil {
		r.Handle(ctx, &stats.OutPayload{Payload: resp, Length: size(resp)})
	}
	r.Handle(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err})
	return resp, err
}

// Stream records streaming calls of fronts.
func (r *Recorder) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if stream.Context().Value(callKey{}) != nil {
		return handler(srv, stream)
	}
	ctx := r.Tag(stream.Context(), info.FullMethod)
	if FromContext(ctx) == nil {
		return handler(srv, stream)
	}
	began := time.Now()
	r.Handle(ctx, &stats.Begin{IsServerStream: true})
	err := handler(srv, &countedStream{stream, ctx, r})
	r.Handle(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err})
	return err
}

// countedStream counts the messages of a stream.
type countedStream struct {
	grpc.ServerStream
	ctx      context.Context
	recorder *Recorder
}

// Context returns the context with the record of the call.
func (s *countedStream) Context() context.Context { return s.ctx }

// RecvMsg receives a request and records the stream's tab.
func (s *countedStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.recorder.Handle(s.ctx, &stats.InPayload{Payload: m})
	}
	return err
}

// SendMsg sends a message and counts it.
func (s *countedStream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		s.recorder.Handle(s.ctx, &stats.OutPayload{Payload: m, Length: size(m)})
	}
	return err
}

// size returns the encoded size of a message.
func size(m any) int {
	switch m := m.(type) {
	case interface{ Size() int }:
		return m.Size()
	case proto.Message:
		return proto.Size(m)
	}
	return 0
}
