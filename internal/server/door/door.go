// Package door limits unauthenticated connections: those on which no call has shown a valid token or certificate yet. Their
// callers are strangers.
//
// What it guarantees:
//
//   - At most MaxStrangers connections of a listener belong to strangers. One more closes the oldest of them, so a
//     caller who shows a token at once is let in while others hold as many connections as they can.
//   - A stranger's connection is closed after Patience. Admit, and a call to Keep that has not ended, stop that clock.
//   - A connection that Admit was called for is never closed by its door.
//
// The address of a connection's peer leads back to the connection: servers hand it on to where calls are
// authorized. Callers pass that address to Admit and Keep; an address of another listener is ignored.
package door

import (
	"container/list"
	"net"
	"sync"
	"time"
)

const (
	// MaxStrangers is how many connections of a listener strangers may hold.
	MaxStrangers = 128
	// Patience is how long a stranger may take to make an authorized call.
	Patience = 10 * time.Second
)

// Listener accepts connections for a listener, and watches those of strangers. Its methods are safe for concurrent use.
type Listener struct {
	net.Listener
	mu sync.Mutex
	// strangers holds *conn, the oldest first.
	strangers list.List
}

// Watch returns a listener that accepts what inner accepts. It closes inner when it is closed.
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

// enter notes a stranger's connection, and returns the one that must end for it, or nil. The caller holds the lock,
// and ends that one without it.
func (l *Listener) enter(c *conn) (oldest *conn) {
	if l.strangers.Len() >= MaxStrangers {
		oldest = l.strangers.Front().Value.(*conn)
		l.leave(oldest)
	}
	c.place = l.strangers.PushBack(c)
	c.clock = time.AfterFunc(Patience, c.end)
	return oldest
}

// leave takes a connection off the list; the caller holds the lock.
func (l *Listener) leave(c *conn) {
	if c.place != nil {
		c.clock.Stop()
		l.strangers.Remove(c.place)
		c.place = nil
	}
}

// conn is a connection that came through a door. The lock of the door guards all fields but Conn.
type conn struct {
	net.Conn
	door *Listener
	// place is where it stands among the strangers; nil: it was admitted, is kept, or is closed.
	place *list.Element
	clock *time.Timer
	// kept counts the calls of Keep that have not ended.
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

// end closes the connection of a stranger, if there is one. Nobody waits for the error.
func (c *conn) end() {
	if c != nil {
		_ = c.Close()
	}
}

// NetConn returns the connection that the inner listener accepted.
func (c *conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr returns the peer's address, which leads back to the connection.
func (c *conn) RemoteAddr() net.Addr { return addr{c.Conn.RemoteAddr(), c} }

// addr is the address of a peer.
type addr struct {
	net.Addr
	conn *conn
}

// Admit ends the watch on a peer's connection: the peer has shown that it may call.
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

// Keep leaves a stranger's connection open until release is called, once. The caller bounds how many it keeps.
// Afterwards the connection is that of a stranger who has just come.
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
