package peers

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"github.com/domtap/domtap/internal/server/listen"
	"github.com/domtap/domtap/internal/server/wire"
)

const (
	// pingAfter and pingTimeout find a node that has vanished or hangs: together, the longest time without news of it.
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
	// connectTimeout is how long a connection may take.
	connectTimeout = 3 * time.Second
	// maxBackoff is how long after a failure the next connection is tried, at most.
	maxBackoff = 2 * time.Second
)

// clientConns has one connection to each node that was called.
type clientConns struct {
	credentials Credentials
	// maxRequest and maxAnswer bound messages, in bytes.
	maxRequest, maxAnswer int

	mu     sync.Mutex
	open   map[Node]*nodeConn
	closed bool
}

// nodeConn is the connection to one node.
type nodeConn struct {
	*grpc.ClientConn
	// calls are under way; left says that the node is no part of the cluster any more, so that the last of them
	// closes the connection.
	calls int
	left  bool
}

// to returns the connection to a node, which is made on first use, for one call. The caller must call done at the end
// of the call. It fails only for addresses that must not be called: calls find out whether the node answers.
func (c *clientConns) to(n Node) (conn *grpc.ClientConn, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errors.New("this node is stopping")
	}
	one := c.open[n]
	if one == nil {
		dialed, err := c.dial(n)
		if err != nil {
			return nil, nil, err
		}
		one = &nodeConn{ClientConn: dialed}
		c.open[n] = one
	}
	one.calls++
	return one.ClientConn, func() { c.done(n, one) }, nil
}

// done ends the use of a connection by a call.
func (c *clientConns) done(n Node, one *nodeConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.calls--
	c.closeUnused(n, one)
}

// closeUnused closes the connection to a node that has left, unless calls are under way. The caller holds the lock.
func (c *clientConns) closeUnused(n Node, one *nodeConn) {
	if one.left && one.calls == 0 && c.open[n] == one {
		_ = one.Close() // fails only when it is closed already
		delete(c.open, n)
	}
}

// dial makes a connection. It does not wait for the node.
func (c *clientConns) dial(n Node) (*grpc.ClientConn, error) {
	secure, err := c.credentials.dialing(n.Address)
	if err != nil {
		return nil, err
	}
	// Not a name for gRPC to resolve and to balance: one address is one node.
	conn, err := grpc.NewClient("passthrough:///"+n.Address,
		grpc.WithTransportCredentials(secure),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(wire.Codec()), grpc.MaxCallSendMsgSize(c.maxRequest), grpc.MaxCallRecvMsgSize(c.maxAnswer)),
		grpc.WithStaticStreamWindowSize(listen.StreamWindow),
		grpc.WithStaticConnWindowSize(listen.ConnectionWindow),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxBackoff},
			MinConnectTimeout: connectTimeout,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to node %s: %w", n.ID, err)
	}
	return conn, nil
}

// keep closes the connections to all nodes but these. A node that leaves may still end the calls that it has, so that
// the last call closes its connection; the calls of one that died end because it does not answer.
func (c *clientConns) keep(nodes []Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, one := range c.open {
		one.left = !slices.Contains(nodes, n)
		c.closeUnused(n, one)
	}
}

// close closes all connections. Calls under way end.
func (c *clientConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for n, one := range c.open {
		_ = one.Close() // fails only when it is closed already
		delete(c.open, n)
	}
}
