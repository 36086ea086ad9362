package server

import (
	"google.golang.org/grpc"

	"github.com/domtap/domtap/internal/server/rpc/streaming"
)

// Metrics counts the server's activity. Its methods are called concurrently and must not block.
type Metrics interface {
	// Unary and Stream count calls.
	Unary() grpc.UnaryServerInterceptor
	Stream() grpc.StreamServerInterceptor
	streaming.Metrics
	// Refused counts a call that a limit refused. The number of different limits is small.
	Refused(limit string)
}
