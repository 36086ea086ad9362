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

	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/tabview/wire"
)

const (
	// pingAfter and pingTimeout detect a node that has vanished or hangs. Their sum limits how long that takes.
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
	// connectTimeout limits the time to establish a connection.
	connectTimeout = 3 * time.Second
	// maxBackoff limits the delay between a failed connection and the next attempt.
	maxBackoff = 2 * time.Second
)

// clientConns holds one connection to each node that was called.
type clientConns struct {
	credentials Credentials
	// maxRequest and maxAnswer limit the size of messages, in bytes.
	maxRequest, maxAnswer int

	mu     sync.Mutex
	open   map[Node]*nodeConn
	closed bool
}

// nodeConn is the connection to one node.
type nodeConn struct {
	*grpc.ClientConn
	// calls counts the calls in progress. left reports that the node is no longer part of the cluster. The last of the calls then closes
	// the connection.
	calls int
	left  bool
}

// to returns the connection to a node for one call. It creates the connection on first use, without waiting for the node. The caller must
// call done at the end of the call. to fails only if the node's address must not be called or the connections are closed.
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

// done ends a call's use of a connection.
func (c *clientConns) done(n Node, one *nodeConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.calls--
	c.closeUnused(n, one)
}

// closeUnused closes the connection to a node that has left, unless calls are in progress. The caller holds the lock.
func (c *clientConns) closeUnused(n Node, one *nodeConn) {
	if one.left && one.calls == 0 && c.open[n] == one {
		_ = one.Close() // fails only if already closed
		delete(c.open, n)
	}
}

// dial creates a connection. It does not wait for the node.
func (c *clientConns) dial(n Node) (*grpc.ClientConn, error) {
	secure, err := c.credentials.dialing(n.Address)
	if err != nil {
		return nil, err
	}
	// gRPC must not resolve or balance the address, because one address is one node.
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

// keep closes the connections to all nodes except the given ones. A node that leaves may still finish its calls, so the last call closes
// its connection. Calls to a node that died end because it does not answer.
func (c *clientConns) keep(nodes []Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, one := range c.open {
		one.left = !slices.Contains(nodes, n)
		c.closeUnused(n, one)
	}
}

// close closes all connections. Calls in progress end.
func (c *clientConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for n, one := range c.open {
		_ = one.Close() // fails only if already closed
		delete(c.open, n)
	}
}
