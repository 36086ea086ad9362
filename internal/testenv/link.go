package testenv

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Link is what lies between two processes: a TCP proxy that can be cut, stopped and slowed. Its methods are safe for concurrent use.
type Link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	state LinkState
	// changed is closed and replaced with each change of state.
	changed chan struct{}
	work    sync.WaitGroup
}

// LinkState is how a link is.
type LinkState struct {
	// Cut: connections are reset, and new ones, too. Stopped: nothing passes, and nothing is refused.
	Cut, Stopped bool
	// Delay is how late bytes arrive.
	Delay time.Duration
}

// NewLink makes a link before an address; it ends with the test.
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

// Address is where the link listens, instead of what it leads to.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set changes how the link is.
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

// reset closes a connection by RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// pass returns how late bytes are to arrive, when they may pass.
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

// keep notes connections that are to be reset; it resets them now when the link is cut.
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

// connect connects one that came with the target, and passes bytes until one of them ends.
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

// parcel is what arrived at a time.
type parcel struct {
	data []byte
	at   time.Time
}

// carry passes what one sends to another.
func (l *Link) carry(from, to net.Conn) {
	parcels := make(chan parcel, 1000)
	l.work.Go(func() {
		defer close(parcels)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			parcels <- parcel{data[:n], time.Now()}
		}
	})
	for p := range parcels {
		if late := time.Until(p.at.Add(l.pass())); late > 0 {
			time.Sleep(late) // this is what a slow link does
		}
		_, _ = to.Write(p.data) // when it is gone, the other side learns of it below
	}
	_ = to.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, to)
}
