// Package graceful stops gRPC servers.
package graceful

import (
	"context"

	"google.golang.org/grpc"
)

// Stop makes a server accept no more calls. Calls in flight may finish until ctx ends; then Stop aborts them. It returns when no call is
// left. The server must have been created with grpc.WaitForHandlers.
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
