// Package connections numbers the connections of a server, and names their peers.
//
// A Tracker is the server's stats.Handler: gRPC tells it of connections and calls. It tells the usage
// recorder and the limits, and has the server free what it keeps for a connection, when the connection and its last call have ended.
// Fronts (HTTP) call the same handler.
package connections

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/server/limit"
	"github.com/domtap/domtap/internal/server/metering"
	"github.com/domtap/domtap/internal/server/rpcstatus"
	"github.com/domtap/domtap/internal/server/views"
)

// Config has what a Tracker informs.
type Config struct {
	// Closed is called when a connection has ended and no call of it runs any more: a call that runs may still store what it was
	// about to send. When a call begins after that, Closed is called once more, at the end of that call.
	Closed func(views.Caller)
	Usage  *metering.Recorder
	Limits *limit.Limits
	// Refused is called with the name of a limit that refused a call, unless it is nil.
	Refused func(limit string)
}

// Tracker numbers the connections, from 1. It implements stats.Handler.
type Tracker struct {
	Config
	opened, closed atomic.Uint64
}

// New makes a Tracker.
func New(cfg Config) *Tracker { return &Tracker{Config: cfg} }

type originKey struct{}

type connectionKey struct{}

// connection counts the calls of a connection that run.
type connection struct {
	mu    sync.Mutex
	calls int
	ended bool
}

// connectionOf returns the connection of a call or of a connection's context; nil for calls that another node passed on.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// end notes that the connection has ended, and reports whether no call of it runs.
func (c *connection) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return c.calls == 0
}

// beginCall notes that a call begins.
func (c *connection) beginCall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

// endCall notes that a call has ended, and reports whether the call was the last one of a connection that has ended.
func (c *connection) endCall() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls--
	return c.ended && c.calls == 0
}

// Origin is the connection over which a client makes a call.
type Origin struct {
	// Node is the process that has the connection, for calls that another node passed on; empty: this process.
	Node string
	// Number is the number of the connection in that process.
	Number uint64
}

// OriginOf returns the connection of a call.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// WithOrigin returns the context of a call that another node passed on, over whose connection a client makes it.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// Caller returns who makes the call: the client ID that the request names, or else the connection.
func Caller(ctx context.Context, clientID string) views.Caller {
	if clientID != "" {
		return Named(ctx, clientID)
	}
	o := OriginOf(ctx)
	return views.Caller{Node: o.Node, Connection: o.Number}
}

// Named returns the caller with the client ID that the request names, which may be empty.
func Named(ctx context.Context, clientID string) views.Caller {
	return views.Caller{Owner: identity.From(ctx).Name(), Client: clientID}
}

// Client names who makes the call, for limits: a named client, or one connection of the operator, because
// each of the operator's programs has an allowance of its own.
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

// PeerName is the network and the address of who makes the call, for logs.
func PeerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	return p.Addr.Network() + " " + p.Addr.String()
}

// Trusted reports whether only processes of the daemon's own user can reach an address.
func Trusted(addr net.Addr) bool { return addr != nil && addr.Network() == "unix" }

// TagConn numbers a connection.
func (t *Tracker) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context {
	ctx = context.WithValue(ctx, connectionKey{}, new(connection))
	return t.Limits.WithSlot(WithOrigin(ctx, Origin{Number: t.opened.Add(1)}), Trusted(info.RemoteAddr))
}

// HandleConn notices the end of a connection.
func (t *Tracker) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		if connectionOf(ctx).end() {
			t.Closed(Caller(ctx, ""))
		}
		t.Limits.Disconnected(ctx)
		t.closed.Add(1)
	}
}

// TagRPC begins the usage record of a call.
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

// Count returns how many connections there were, fronts included, and how many of them are open.
func (t *Tracker) Count() (ever, open uint64) {
	closed := t.closed.Load() // read first, so that it never exceeds opened
	ever = t.opened.Load()
	return ever, ever - closed
}
