package peers

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// link is a TCP proxy in front of a node, which can be cut or halted.
type link struct {
	listener net.Listener
	target   string
	// If halted is set, data that arrives is dropped. lost counts the dropped bytes for the node.
	halted atomic.Bool
	lost   atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
	isCut bool
	work  sync.WaitGroup
}

// links puts a link before each node.
type links []*link

// add creates the link before a node. It is used for options.between.
func (all *links) add(t testing.TB) func(index int, address string) string {
	return func(_ int, address string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		one := &link{listener: l, target: address}
		*all = append(*all, one)
		one.work.Go(one.accept)
		t.Cleanup(func() {
			one.cut()
			one.work.Wait()
		})
		return l.Addr().String()
	}
}

func (l *link) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", l.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, from, to)
		isCut := l.isCut
		l.mu.Unlock()
		if isCut {
			_, _ = from.Close(), to.Close()
			return
		}
		l.work.Go(func() { l.copy(from, to, nil) })
		l.work.Go(func() { l.copy(to, from, &l.lost) })
	}
}

// copy forwards bytes. It adds dropped bytes to lost, unless lost is nil.
func (l *link) copy(to, from net.Conn, lost *atomic.Int64) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		var failed error
		switch {
		case !l.halted.Load():
			_, failed = to.Write(buffer[:n])
		case lost != nil:
			lost.Add(int64(n))
		}
		if err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// halt drops all further data, so that the node seems to hang.
func (l *link) halt() { l.halted.Store(true) }

// cut closes all connections and accepts no more, so that the node seems to be dead.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	_ = l.listener.Close()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}
