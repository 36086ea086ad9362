// Package connections numbers the connections of a server, and names their peers.
//
// A Tracker is the server's stats.Handler: gRPC reports connections and calls to it. The Tracker updates the usage recorder and the limits.
// When a connection and its last call have ended, it lets the server free the state of the connection. Fronts (HTTP) use the same handler.
package connections

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/tabview"
)

// Config holds the recipients of a Tracker's events.
type Config struct {
	// Closed is called when a connection has ended and none of its calls is running. A running call may still store data that it was about
	// to send. If a call starts after that, Closed is called again when that call ends.
	Closed func(tabview.Caller)
	Usage  *metering.Recorder
	Limits *limit.Limits
	// Refused is called with the name of the limit when a limit refuses a call. It may be nil.
	Refused func(limit string)
}

// Tracker numbers the connections, starting at 1. It implements stats.Handler.
type Tracker struct {
	Config
	opened, closed atomic.Uint64
}

// New returns a Tracker.
func New(cfg Config) *Tracker { return &Tracker{Config: cfg} }

type originKey struct{}

type connectionKey struct{}

// connection counts the running calls of a connection.
type connection struct {
	mu    sync.Mutex
	calls int
	ended bool
}

// connectionOf returns the connection of a call's or connection's context. It returns nil for calls that another node forwarded.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// end records that the connection has ended. It reports whether no call of it is running.
func (c *connection) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return c.calls == 0
}

// beginCall records the start of a call.
func (c *connection) beginCall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

// endCall records the end of a call. It reports whether the connection has ended and this was its last call.
func (c *connection) endCall() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls--
	return c.ended && c.calls == 0
}

// Origin identifies the connection over which a client makes a call.
type Origin struct {
	// Node is the process that has the connection, for calls that another node forwarded. It is empty for this process.
	Node string
	// Number is the number of the connection in that process.
	Number uint64
}

// OriginOf returns the connection of a call.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// WithOrigin returns the context of a call that another node forwarded. o is the client's connection to that node.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// Caller identifies the caller: by the client ID in the request, or else by the connection.
func Caller(ctx context.Context, clientID string) tabview.Caller {
	if clientID != "" {
		return Named(ctx, clientID)
	}
	o := OriginOf(ctx)
	return tabview.Caller{Node: o.Node, Connection: o.Number}
}

// Named returns the caller with the client ID in the request, which may be empty.
func Named(ctx context.Context, clientID string) tabview.Caller {
	return tabview.Caller{Owner: identity.From(ctx).Name(), Client: clientID}
}

// Client returns the name of the caller for limits. It is a named client, or one connection of the operator, so that each of the operator's
// programs has its own allowance.
func Client(ctx context.Context) string {
	if who := identity.From(ctx); !who.IsOperator() {
		return who.Name()
	}
	o := OriginOf(ctx)
	name := identity.OperatorName + "/"
	if o.Node != "" {
		name += o.Node + "/"
	}
	return name + strconv.FormatUint(o.Number, 10)
}

// PeerName returns the network and the address of the peer, for logs.
func PeerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	return p.Addr.Network() + " " + p.Addr.String()
}

// Trusted reports whether only processes of the daemon's own user can reach an address.
func Trusted(addr net.Addr) bool { return addr != nil && addr.Network() == "unix" }

// TagConn assigns a number to a connection.
func (t *Tracker) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context {
	ctx = context.WithValue(ctx, connectionKey{}, new(connection))
	return t.Limits.WithSlot(WithOrigin(ctx, Origin{Number: t.opened.Add(1)}), Trusted(info.RemoteAddr))
}

// HandleConn handles the end of a connection.
func (t *Tracker) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		if connectionOf(ctx).end() {
			t.Closed(Caller(ctx, ""))
		}
		t.Limits.Disconnected(ctx)
		t.closed.Add(1)
	}
}

// TagRPC starts the usage record of a call.
func (t *Tracker) TagRPC(ctx context.Context, call *stats.RPCTagInfo) context.Context {
	return t.Usage.Tag(ctx, call.FullMethodName)
}

// HandleRPC records an event of a call.
func (t *Tracker) HandleRPC(ctx context.Context, event stats.RPCStats) {
	t.Usage.Handle(ctx, event)
	of := connectionOf(ctx)
	switch event := event.(type) {
	case *stats.Begin:
		if of != nil {
			of.beginCall()
		}
	case *stats.End:
		if event.Error != nil && t.Refused != nil {
			if limit := rpcstatus.Limit(event.Error); limit != "" {
				t.Refused(limit)
			}
		}
		if of != nil && of.endCall() {
			t.Closed(Caller(ctx, ""))
		}
	}
}

// Count returns the total number of connections, including connections of fronts, and how many of them are open.
func (t *Tracker) Count() (ever, open uint64) {
	closed := t.closed.Load() // loaded first, so that it never exceeds opened
	ever = t.opened.Load()
	return ever, ever - closed
}
