// Package preauth limits unauthenticated connections. A connection is unauthenticated until one of its calls has presented a valid token or
// certificate.
//
// Guarantees:
//
//   - A listener has at most MaxConnections unauthenticated connections. An additional unauthenticated connection closes the oldest one. So
//     a caller that presents a
//     token right away gets in, even while others hold as many connections as they can.
//   - An unauthenticated connection is closed after Timeout. MarkAuthenticated stops the timer, and Exempt stops it until release is called.
//   - A connection that was passed to MarkAuthenticated is never closed by its listener.
//
// The address of a connection's peer identifies the connection. Servers pass the address to the code that authorizes calls, which passes it
// to MarkAuthenticated and Exempt. An address of another listener is ignored.
package preauth

import (
	"container/list"
	"net"
	"sync"
	"time"
)

const (
	// MaxConnections limits the unauthenticated connections of a listener.
	MaxConnections = 128
	// Timeout limits the time until the first authorized call of a connection.
	Timeout = 10 * time.Second
)

// Listener accepts connections and tracks the unauthenticated ones. Its methods are safe for concurrent use.
type Listener struct {
	net.Listener
	mu sync.Mutex
	// pending holds the unauthenticated connections as *conn values, oldest first.
	pending list.List
}

// Limit returns a listener that accepts the connections of inner and limits the unauthenticated ones. Closing it closes inner.
func Limit(inner net.Listener) *Listener { return &Listener{Listener: inner} }

// Accept waits for the next connection, which is unauthenticated.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l}
	l.mu.Lock()
	oldest := l.enter(c)
	l.mu.Unlock()
	oldest.end()
	return c, nil
}

// enter adds an unauthenticated connection. It returns the oldest one if that must be closed in exchange, or nil. The caller holds the lock and
// must release it before it closes the oldest connection.
func (l *Listener) enter(c *conn) (oldest *conn) {
	if l.pending.Len() >= MaxConnections {
		oldest = l.pending.Front().Value.(*conn)
		l.leave(oldest)
	}
	c.place = l.pending.PushBack(c)
	c.clock = time.AfterFunc(Timeout, c.end)
	return oldest
}

// leave removes a connection from the list. The caller holds the lock.
func (l *Listener) leave(c *conn) {
	if c.place != nil {
		c.clock.Stop()
		l.pending.Remove(c.place)
		c.place = nil
	}
}

// conn is a connection that a Listener accepted. The listener's lock guards all fields except Conn.
type conn struct {
	net.Conn
	listener *Listener
	// place is the connection's element in pending. It is nil if the connection is authenticated, exempt or closed.
	place *list.Element
	clock *time.Timer
	// exempt counts the calls of Exempt that were not released.
	exempt                int
	authenticated, closed bool
}

// Close closes the connection.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.closed = true
	c.listener.leave(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// end closes the connection. It does nothing if c is nil. The error of Close is ignored.
func (c *conn) end() {
	if c != nil {
		_ = c.Close()
	}
}

// NetConn returns the connection that the inner listener accepted.
func (c *conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr returns the peer's address, which identifies the connection.
func (c *conn) RemoteAddr() net.Addr { return addr{c.Conn.RemoteAddr(), c} }

// addr is the address of a peer and its connection.
type addr struct {
	net.Addr
	conn *conn
}

// MarkAuthenticated stops tracking a peer's connection, because the peer has presented valid credentials.
func MarkAuthenticated(peer net.Addr) {
	a, ok := peer.(addr)
	if !ok {
		return
	}
	l := a.conn.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	a.conn.authenticated = true
	l.leave(a.conn)
}

// Exempt leaves an unauthenticated connection open until release is called, which must happen once. The caller must limit the number of
// exempt connections. After release, the connection counts as a new unauthenticated one.
func Exempt(peer net.Addr) (release func()) {
	a, ok := peer.(addr)
	if !ok {
		return func() {}
	}
	l, c := a.conn.listener, a.conn
	l.mu.Lock()
	defer l.mu.Unlock()
	c.exempt++
	l.leave(c)
	return func() {
		l.mu.Lock()
		var oldest *conn
		if c.exempt--; c.exempt == 0 && !c.authenticated && !c.closed {
			oldest = l.enter(c)
		}
		l.mu.Unlock()
		oldest.end()
	}
}
