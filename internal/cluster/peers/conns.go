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
	open   map[Node]*grpc.ClientConn
	closed bool
}

// to returns the connection to a node, which is made on first use. It fails only for addresses that must not be
// called: calls find out whether the node answers.
func (c *clientConns) to(n Node) (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("this node is stopping")
	}
	if conn := c.open[n]; conn != nil {
		return conn, nil
	}
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
	c.open[n] = conn
	return conn, nil
}

// keep closes the connections to all nodes but these. Calls under way to the others end.
func (c *clientConns) keep(nodes []Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, conn := range c.open {
		if !slices.Contains(nodes, n) {
			_ = conn.Close() // fails only when it is closed already
			delete(c.open, n)
		}
	}
}

// close closes all connections.
func (c *clientConns) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.keep(nil)
}
