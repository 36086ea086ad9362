package peers

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// link is what lies between a node and those that call it: a TCP proxy that can be cut or stopped.
type link struct {
	listener net.Listener
	target   string
	// open is held for reading while bytes pass, and for writing while the link is stopped.
	open sync.RWMutex
	// read counts the bytes that arrived in both directions, also while nothing passes.
	read atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
	isCut bool
	work  sync.WaitGroup
}

// links puts a link before each node.
type links []*link

// add makes the link before a node; it is for options.between.
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
		l.work.Go(func() { l.copy(from, to) })
		l.work.Go(func() { l.copy(to, from) })
	}
}

func (l *link) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		l.read.Add(int64(n))
		l.open.RLock()
		_, failed := to.Write(buffer[:n])
		l.open.RUnlock()
		if err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// halt lets nothing pass until the returned function is called: the node seems to hang.
func (l *link) halt() (resume func()) {
	l.open.Lock()
	return l.open.Unlock
}

// cut closes all connections, and accepts no more: the node seems to be dead.
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
