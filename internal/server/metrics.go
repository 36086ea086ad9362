package server

import (
	"google.golang.org/grpc"

	"github.com/domtap/domtap/internal/server/streaming"
)

// Metrics count what the server does. Their methods are called from many goroutines and must not wait.
type Metrics interface {
	// Unary and Stream count the calls.
	Unary() grpc.UnaryServerInterceptor
	Stream() grpc.StreamServerInterceptor
	streaming.Metrics
	// Refused counts a call that was refused because of a limit. There are few limits.
	Refused(limit string)
}
