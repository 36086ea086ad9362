package testenv

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Link is a TCP proxy between two processes that can be cut, stopped and slowed down. Its methods are safe for concurrent use.
type Link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	state LinkState
	// changed is closed and replaced at each change of state.
	changed chan struct{}
	work    sync.WaitGroup
}

// LinkState is the state of a link.
type LinkState struct {
	// Cut resets all connections, including new ones. Stopped passes no bytes, but accepts connections.
	Cut, Stopped bool
	// Delay delays all bytes.
	Delay time.Duration
}

// NewLink creates a link in front of an address. The link ends with the test.
func NewLink(t testing.TB, target string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{listener: listener, target: target, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
	l.work.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.Set(LinkState{Cut: true})
		l.work.Wait()
	})
	return l
}

// Address returns the address on which the link listens.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set changes the state of the link.
func (l *Link) Set(state LinkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	close(l.changed)
	l.changed = make(chan struct{})
	for c := range l.conns {
		if state.Cut {
			reset(c)
			delete(l.conns, c)
		}
	}
}

// reset closes a connection with RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// pass waits until bytes may pass, and returns their delay.
func (l *Link) pass() time.Duration {
	for {
		l.mu.Lock()
		state, changed := l.state, l.changed
		l.mu.Unlock()
		if !state.Stopped {
			return state.Delay
		}
		<-changed
	}
}

// keep registers connections to reset when the link is cut. If the link is cut already, it resets them immediately.
func (l *Link) keep(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		if l.conns[c] = true; l.state.Cut {
			reset(c)
			delete(l.conns, c)
		}
	}
}

func (l *Link) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.keep(from)
		l.work.Go(func() { l.connect(from) })
	}
}

// connect connects an accepted connection with the target, and passes bytes until one of the two ends.
func (l *Link) connect(from net.Conn) {
	l.pass()
	to, err := net.Dial("tcp", l.target)
	if err != nil {
		reset(from)
		return
	}
	l.keep(to)
	l.work.Go(func() { l.carry(from, to) })
	l.carry(to, from)
}

// chunk holds bytes and the time of their arrival.
type chunk struct {
	data []byte
	at   time.Time
}

// carry passes bytes from one connection to the other.
func (l *Link) carry(from, to net.Conn) {
	parcels := make(chan chunk, 1000)
	l.work.Go(func() {
		defer close(parcels)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			parcels <- chunk{data[:n], time.Now()}
		}
	})
	for p := range parcels {
		if late := time.Until(p.at.Add(l.pass())); late > 0 {
			time.Sleep(late) // simulates the slow link
		}
		_, _ = to.Write(p.data) // if the copy fails, the other side is reset below
	}
	_ = to.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, to)
}
