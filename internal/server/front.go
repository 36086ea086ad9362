package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// Front serves the calls over another protocol than gRPC, such as HTTP for browsers. It gets the services from
// Register, passes every call through the Interceptors with the peer and the metadata of its caller in the context,
// and reports connections and calls to Stats.
type Front interface {
	// Serve serves until Stop is called, then returns nil, or until it fails.
	Serve() error
	// Stop accepts no more calls and lets those under way finish until ctx ends; then it aborts them. It returns,
	// and Serve with it, when no call is left.
	Stop(ctx context.Context)
}

// Beside adds a front that Serve runs beside its listeners until the last call has ended. Call it before Serve.
func (s *Server) Beside(f Front) { s.fronts = append(s.fronts, f) }

// Register gives the services of the API to a front.
func (s *Server) Register(r grpc.ServiceRegistrar) { s.services.Register(r) }

// Interceptors returns the interceptors of every call, outermost first; see package intercept.
func (s *Server) Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor) {
	return s.calls.Unary(), s.calls.Stream()
}

// Stats returns the handler of connections and calls, which identifies callers and records usage. A front reports to
// it what gRPC's own server would.
func (s *Server) Stats() stats.Handler { return s.connections }

// Authorize returns an error unless the peer and the metadata in ctx are those of a caller who may call. The
// interceptors check every call anyway; a front calls Authorize before it reads the body of a request.
func (s *Server) Authorize(ctx context.Context) error {
	return s.calls.Authorize(ctx)
}

// Connections returns how many connections there were, those of fronts included, and how many of them are open.
func (s *Server) Connections() (ever, open uint64) { return s.connections.Count() }
