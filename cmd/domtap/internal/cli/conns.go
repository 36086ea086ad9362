package cli

import (
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/domtap/domtap/internal/endpoint"
)

// Conns holds connections that several commands use in turn. A nil Conns opens a connection for each command.
type Conns struct {
	mu  sync.Mutex
	all map[place]*grpc.ClientConn
}

// place identifies a connection by its address and options.
type place struct {
	address string
	options endpoint.Options
}

// dial returns the connection to an address. If shared is true, the caller must not close the connection.
func (c *Conns) dial(to endpoint.Target, options endpoint.Options) (conn *grpc.ClientConn, shared bool, err error) {
	if c == nil {
		conn, err = endpoint.Dial(to, options)
		return conn, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{to.String(), options}
	if conn = c.all[at]; conn != nil {
		return conn, true, nil
	}
	if conn, err = endpoint.Dial(to, options); err != nil {
		return nil, false, err
	}
	if c.all == nil {
		c.all = map[place]*grpc.ClientConn{}
	}
	c.all[at] = conn
	return conn, true, nil
}

// Close closes all connections.
func (c *Conns) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for at, conn := range c.all {
		errs = append(errs, conn.Close())
		delete(c.all, at)
	}
	return errors.Join(errs...)
}
