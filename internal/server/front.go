package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// Front serves the calls over another protocol than gRPC, such as HTTP for browsers. It gets the services from Register and passes every
// call through the Interceptors, with the peer and the metadata of the caller in the context. It reports connections and calls to Stats.
type Front interface {
	// Serve serves until Stop is called or serving fails. After Stop it returns nil.
	Serve() error
	// Stop accepts no more calls. Calls in flight may finish until ctx ends; then Stop aborts them. Stop and Serve return when no call is
	// left.
	Stop(ctx context.Context)
}

// AddFront adds a front that Serve runs in addition to its listeners. Call AddFront before Serve.
func (s *Server) AddFront(f Front) { s.fronts = append(s.fronts, f) }

// Register registers the services of the API with a front.
func (s *Server) Register(r grpc.ServiceRegistrar) { s.services.register(r) }

// Interceptors returns the interceptors of every call, outermost first; see package intercept.
func (s *Server) Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor) {
	return s.calls.Unary(), s.calls.Stream()
}

// Stats returns the handler of connections and calls, which identifies callers and records usage. A front must report the same events to it
// as a gRPC server does.
func (s *Server) Stats() stats.Handler { return s.connections }

// Authorize returns an error unless the peer and the metadata in ctx identify a caller with access. The interceptors check every call
// anyway; a front calls Authorize before it reads the body of a request.
func (s *Server) Authorize(ctx context.Context) error {
	return s.calls.Authorize(ctx)
}

// Connections returns the total number of connections, including connections of fronts, and how many of them are open.
func (s *Server) Connections() (ever, open uint64) { return s.connections.Count() }
