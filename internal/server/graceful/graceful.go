// Package graceful ends gRPC servers.
package graceful

import (
	"context"

	"google.golang.org/grpc"
)

// Stop has a server accept no more calls, lets those under way finish until ctx ends, and aborts the rest then. It returns when no call is
// left. The server must have been made with grpc.WaitForHandlers.
func Stop(ctx context.Context, s *grpc.Server) {
	graceful := make(chan struct{})
	go func() {
		defer close(graceful)
		s.GracefulStop()
	}()
	select {
	case <-graceful:
	case <-ctx.Done():
		s.Stop()
		<-graceful
	}
}
