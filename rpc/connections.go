package rpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/rpc/accounting"
	"github.com/domtap/domtap/rpc/identity"
	"github.com/domtap/domtap/rpc/limit"
	"github.com/domtap/domtap/rpc/rpcstatus"
	"github.com/domtap/domtap/rpc/views"
)

// connections numbers the connections, from 1, says when one is closed, and lets the clerk see the calls.
type connections struct {
	last atomic.Uint64
	// gone counts those that have ended.
	gone   atomic.Uint64
	closed func(views.Caller)
	clerk  *accounting.Clerk
	limits *limit.Limits
	// metrics may be nil.
	metrics Metrics
}

type connectionKey struct{}

// callerOf returns who makes the call.
func callerOf(ctx context.Context, client string) views.Caller {
	if client != "" {
		return chosen(ctx, client)
	}
	id, _ := ctx.Value(connectionKey{}).(uint64)
	return views.Caller{Connection: id}
}

// chosen returns who makes the call, as far as that has chosen a client id.
func chosen(ctx context.Context, client string) views.Caller {
	return views.Caller{Owner: identity.From(ctx).Name(), Client: client}
}

// TagConn numbers a connection.
func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return c.limits.Seated(context.WithValue(ctx, connectionKey{}, c.last.Add(1)))
}

// HandleConn notices the end of a connection.
func (c *connections) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		c.closed(callerOf(ctx, ""))
		c.limits.Left(ctx)
		c.gone.Add(1)
	}
}

// TagRPC begins the account of a call.
func (c *connections) TagRPC(ctx context.Context, call *stats.RPCTagInfo) context.Context {
	return c.clerk.Tag(ctx, call.FullMethodName)
}

// HandleRPC enters what happens to a call.
func (c *connections) HandleRPC(ctx context.Context, event stats.RPCStats) {
	c.clerk.Handle(ctx, event)
	if end, ok := event.(*stats.End); ok && end.Error != nil && c.metrics != nil {
		if limit := rpcstatus.Limit(end.Error); limit != "" {
			c.metrics.Refused(limit)
		}
	}
}

// Connections says how many connections there ever were, those of fronts included, and how many of them are open.
func (s *Server) Connections() (ever, open uint64) {
	gone := s.connections.gone.Load() // first, so that it is never the larger
	ever = s.connections.last.Load()
	return ever, ever - gone
}
