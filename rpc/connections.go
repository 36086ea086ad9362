package rpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/rpc/views"
)

// connections numbers the connections, from 1, and says when one is closed.
type connections struct {
	last   atomic.Uint64
	closed func(views.Caller)
}

type connectionKey struct{}

// callerOf returns who makes the call.
func callerOf(ctx context.Context, client string) views.Caller {
	if client != "" {
		return views.Caller{Client: client}
	}
	id, _ := ctx.Value(connectionKey{}).(uint64)
	return views.Caller{Connection: id}
}

// TagConn numbers a connection.
func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connectionKey{}, c.last.Add(1))
}

// HandleConn notices the end of a connection.
func (c *connections) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		c.closed(callerOf(ctx, ""))
	}
}

// TagRPC does nothing; it is part of stats.Handler.
func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC does nothing; it is part of stats.Handler.
func (c *connections) HandleRPC(context.Context, stats.RPCStats) {}
