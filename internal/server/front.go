package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// Front is another way to the calls than gRPC, such as HTTP for browsers: it takes them from Register, and sees
// to it that each passes the Interceptors with the peer and the metadata of its caller in the context, and that Stats is told.
type Front interface {
	// Serve serves until Stop is called, then returns nil, or until it fails.
	Serve() error
	// Stop takes no more calls and lets those under way end until ctx does; then it cuts them. It returns when none
	// is left, and Serve with it.
	Stop(ctx context.Context)
}

// Beside has Serve run a front beside its listeners, from when it begins until the last call has ended. It is to
// be called before Serve.
func (s *Server) Beside(f Front) { s.fronts = append(s.fronts, f) }

// Register gives the services of the API to a front.
func (s *Server) Register(r grpc.ServiceRegistrar) { s.services.Register(r) }

// Interceptors are what every call passes, outermost first: the log, the token, the deadline, the checks of
// requests.
func (s *Server) Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor) {
	return s.calls.Unary(), s.calls.Stream()
}

// Stats is told of connections, by which callers are known, and of calls, which it enters into their accounts. A front tells
// it what gRPC's own server would.
func (s *Server) Stats() stats.Handler { return s.connections }

// Authorize returns an error unless the peer and the metadata in ctx are those of a caller who may call. Calls are
// asked by their interceptors anyway; a front asks before it reads what a stranger sends.
func (s *Server) Authorize(ctx context.Context) error {
	return s.calls.Authorize(ctx)
}

// Connections returns how many connections there were, those of fronts included, and how many of them are open.
func (s *Server) Connections() (ever, open uint64) { return s.connections.Count() }
