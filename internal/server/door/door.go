// Package door limits unauthenticated connections. A connection belongs to a stranger until one of its calls has presented a valid token or
// certificate.
//
// Guarantees:
//
//   - At most MaxStrangers connections of a listener belong to strangers. Another one closes the oldest of them. So a caller that presents
//     a token right away gets in, even while others hold as many connections as they can.
//   - A stranger's connection is closed after Patience. Admit stops that clock, and so does Keep until it is released.
//   - A connection that was passed to Admit is never closed by its door.
//
// The address of a connection's peer identifies the connection. Servers pass the address to the code that authorizes calls, which passes it
// to Admit and Keep. An address of another listener is ignored.
package door

import (
	"container/list"
	"net"
	"sync"
	"time"
)

const (
	// MaxStrangers limits the strangers' connections of a listener.
	MaxStrangers = 128
	// Patience limits the time a stranger may take to make an authorized call.
	Patience = 10 * time.Second
)

// Listener accepts connections and tracks those of strangers. Its methods are safe for concurrent use.
type Listener struct {
	net.Listener
	mu sync.Mutex
	// strangers holds the *conn values, oldest first.
	strangers list.List
}

// Watch returns a listener that accepts the connections of inner. Closing it closes inner.
func Watch(inner net.Listener) *Listener { return &Listener{Listener: inner} }

// Accept waits for the next connection, which belongs to a stranger.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, door: l}
	l.mu.Lock()
	oldest := l.enter(c)
	l.mu.Unlock()
	oldest.end()
	return c, nil
}

// enter adds a stranger's connection. It returns the oldest one if that must be closed in exchange, or nil. The caller holds the lock and
// must release it before it closes the oldest connection.
func (l *Listener) enter(c *conn) (oldest *conn) {
	if l.strangers.Len() >= MaxStrangers {
		oldest = l.strangers.Front().Value.(*conn)
		l.leave(oldest)
	}
	c.place = l.strangers.PushBack(c)
	c.clock = time.AfterFunc(Patience, c.end)
	return oldest
}

// leave removes a connection from the list. The caller holds the lock.
func (l *Listener) leave(c *conn) {
	if c.place != nil {
		c.clock.Stop()
		l.strangers.Remove(c.place)
		c.place = nil
	}
}

// conn is a connection that a door accepted. The door's lock guards all fields except Conn.
type conn struct {
	net.Conn
	door *Listener
	// place is the connection's element in strangers. It is nil if the connection was admitted, is kept, or is closed.
	place *list.Element
	clock *time.Timer
	// kept counts the calls of Keep that were not released.
	kept             int
	admitted, closed bool
}

// Close closes the connection.
func (c *conn) Close() error {
	c.door.mu.Lock()
	c.closed = true
	c.door.leave(c)
	c.door.mu.Unlock()
	return c.Conn.Close()
}

// end closes the connection of a stranger. It does nothing if c is nil. The error of Close is ignored.
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

// Admit stops tracking a peer's connection, because the peer has presented valid credentials.
func Admit(peer net.Addr) {
	a, ok := peer.(addr)
	if !ok {
		return
	}
	l := a.conn.door
	l.mu.Lock()
	defer l.mu.Unlock()
	a.conn.admitted = true
	l.leave(a.conn)
}

// Keep leaves a stranger's connection open until release is called, which must happen once. The caller must limit the number of kept
// connections. After release, the connection counts as a new stranger's.
func Keep(peer net.Addr) (release func()) {
	a, ok := peer.(addr)
	if !ok {
		return func() {}
	}
	l, c := a.conn.door, a.conn
	l.mu.Lock()
	defer l.mu.Unlock()
	c.kept++
	l.leave(c)
	return func() {
		l.mu.Lock()
		var oldest *conn
		if c.kept--; c.kept == 0 && !c.admitted && !c.closed {
			oldest = l.enter(c)
		}
		l.mu.Unlock()
		oldest.end()
	}
}
