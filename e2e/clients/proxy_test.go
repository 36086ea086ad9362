package clients

import (
	"io"
	"net"
	"sync"
	"testing"
)

// line is a proxy between clients and a daemon: a loopback port whose connections a test can cut.
type line struct {
	listener net.Listener
	running  sync.WaitGroup

	mu sync.Mutex
	// network and address are the address of the daemon.
	network, address string
	// dead rejects new connections.
	dead bool
	open map[net.Conn]bool
}

// newLine creates a line to a daemon. It ends with the test.
func newLine(t *testing.T, network, address string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, network: network, address: address, open: map[net.Conn]bool{}}
	l.running.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut(true)
		l.running.Wait()
	})
	return l
}

// addr returns the address for clients.
func (l *line) addr() string { return l.listener.Addr().String() }

// cut closes all connections. dead sets whether new ones are rejected.
func (l *line) cut(dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = dead
	for conn := range l.open {
		_ = conn.Close()
	}
	clear(l.open)
}

// lead closes all connections and connects the line to another daemon.
func (l *line) lead(network, address string) {
	l.mu.Lock()
	l.network, l.address = network, address
	l.mu.Unlock()
	l.cut(false)
}

func (l *line) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		if there := l.connect(conn); there != nil {
			l.running.Go(func() { pour(there, conn) })
			l.running.Go(func() { pour(conn, there) })
		}
	}
}

// connect connects a client to the daemon. It returns nil if the line is dead.
func (l *line) connect(here net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	there, err := net.Dial(l.network, l.address)
	if err != nil || l.dead {
		_ = here.Close()
		if there != nil {
			_ = there.Close()
		}
		return nil
	}
	l.open[here], l.open[there] = true, true
	return there
}

// pour copies until one side ends, and then closes both.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
}
