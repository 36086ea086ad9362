//go:build cluster

package cluster

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/testenv"
)

// link is what lies between two processes: a TCP proxy that can be cut, stopped and slowed.
type link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	state linkState
	// changed is closed and replaced with each change of state.
	changed chan struct{}
	work    sync.WaitGroup
}

// linkState is how a link is.
type linkState struct {
	// cut: connections are reset, and new ones, too. stopped: nothing passes, and nothing is refused.
	cut, stopped bool
	// delay is how late bytes arrive.
	delay time.Duration
}

// newLink makes a link before an address; it ends with the test.
func newLink(t *testing.T, target string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, target: target, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
	l.work.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(linkState{cut: true})
		l.work.Wait()
	})
	return l
}

func (l *link) address() string { return l.listener.Addr().String() }

// set changes how the link is.
func (l *link) set(state linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	close(l.changed)
	l.changed = make(chan struct{})
	for c := range l.conns {
		if state.cut {
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
func (l *link) pass() time.Duration {
	for {
		l.mu.Lock()
		state, changed := l.state, l.changed
		l.mu.Unlock()
		if !state.stopped {
			return state.delay
		}
		<-changed
	}
}

// keep notes connections that are to be reset; it resets them now when the link is cut.
func (l *link) keep(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		if l.conns[c] = true; l.state.cut {
			reset(c)
			delete(l.conns, c)
		}
	}
}

func (l *link) accept() {
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
func (l *link) connect(from net.Conn) {
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
func (l *link) carry(from, to net.Conn) {
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

// linked is a cluster of three daemons, each with a NATS server, and links between them.
type linked struct {
	*stage
	// nats are the addresses of the NATS servers.
	nats []string
	// routes are the links between the NATS servers, from one to another; calls are those to each node.
	routes map[[2]int]*link
	calls  []*link
}

// newLinked starts a cluster whose daemons show a site of ours.
func newLinked(t *testing.T, pages map[string]http.HandlerFunc) *linked {
	t.Helper()
	st := &linked{stage: newStageOf(t), routes: map[[2]int]*link{}}
	st.url = testenv.Pages(t, pages)
	at, routes := natstest.Free(t, 9), make([]string, 3)
	st.nats = at[3:6]
	for i := range routes {
		// Servers tell each other where they are reached: at the address that a connection comes from, 127.0.0.1, and the port of the
		// server. Nobody listens there, so that all connections go through the links.
		routes[i] = freeAt(t, fmt.Sprintf("127.0.0.%d", 2+i))
	}
	for to := range 3 {
		st.calls = append(st.calls, newLink(t, at[to]))
		for from := range 3 {
			if from != to {
				st.routes[[2]int{from, to}] = newLink(t, routes[to])
			}
		}
	}
	for i := range 3 {
		reached := slices.Clone(routes)
		for to := range reached {
			if l := st.routes[[2]int{i, to}]; l != nil {
				reached[to] = l.address()
			}
		}
		st.start(st.program, fmt.Sprintf("n%d", i+1), at[6+i], "--cluster", "shop", "--cluster-token-file", st.clusterToken,
			"--cluster-listen", at[i], "--cluster-address", st.calls[i].address(), "--cluster-nats", at[3+i],
			"--cluster-route", routes[i], "--cluster-routes", strings.Join(reached, ","), "--cluster-store", filepath.Join(t.TempDir(), "nats"))
	}
	for _, n := range st.nodes {
		n.ready()
	}
	return st
}

// freeAt finds a free address of a host.
func freeAt(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Skipf("the system has one address of loopback only: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}
