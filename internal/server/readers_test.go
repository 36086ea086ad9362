package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/streamcheck"
)

// Many readers of one tab, a thousand in make test-long, behave differently: most read each message immediately, some read one per second,
// some stop for minutes, some vanish. Immediate readers get each revision separately and without delay.
func TestReadersOfEveryPace(t *testing.T) {
	var h *streamcheck.History
	readers := 300
	if os.Getenv("DOMTAP_LONG") != "" { // make test-long
		readers = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		defer b.close()
		tab, page := b.shop(buttons("B", 12)...)
		s := newStage(t, b, tab.GetId(), page)
		s.view("all", &domtapv1.WatchDomRequest{})
		for i := range readers {
			pace := streamcheck.Prompt
			if i%10 < 3 {
				pace = streamcheck.Pace(i % 10)
			}
			s.join(joining{name: fmt.Sprint("reader ", i), view: "all", pace: pace})
		}
		s.settle()
		for _, r := range s.readers {
			if r.Pace == streamcheck.Stalling {
				r.stall()
			}
		}
		for i := range 15 {
			page.Update(func(main *actortest.Frame) { main.Body[i%12].Value = fmt.Sprint(i) })
			s.settle()
			s.readers[7*i].vanish()
			time.Sleep(100 * time.Millisecond)
		}
		s.rest()
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			t.Error(err)
		}
		s.finish()
		h = s.history(1024)
	})
	all := h.Readers
	h.Readers = nil
	for i, r := range all { // judging all of them takes long
		if i/10%4 == 0 {
			h.Readers = append(h.Readers, r)
		}
	}
	for _, faults := range [][]error{h.Converges(), h.Ordered(), h.NeverDropsNeverBlocks(), h.EndsWithAReason()} {
		wantNone(t, faults)
	}
	for _, r := range all {
		if n := len(r.Messages); r.Pace == streamcheck.Stalling && r.Alive && n > 14 {
			t.Errorf("%s, which stopped reading, got %d messages: nothing was folded", r.Name, n)
		}
	}
}

// A reader that reads one message per second of a page that changes ten times per second gets one diff per second.
func TestAReaderThatTakesOneMessageASecond(t *testing.T) {
	var h *streamcheck.History
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		defer b.close()
		tab, page := b.shop(buttons("B", 12)...)
		s := newStage(t, b, tab.GetId(), page)
		s.view("all", &domtapv1.WatchDomRequest{})
		for i := range 20 {
			s.join(joining{name: fmt.Sprint("slow ", i), view: "all", pace: streamcheck.Slow})
		}
		s.join(joining{name: "prompt", view: "all"})
		s.settle()
		for i := range 600 {
			page.Update(func(main *actortest.Frame) { main.Body[i%12].Value = fmt.Sprint(i) })
			s.settle()
			time.Sleep(100 * time.Millisecond)
		}
		s.rest()
		b.stop()
		s.finish()
		h = s.history(1024)
	})
	for _, faults := range [][]error{h.Converges(), h.Ordered(), h.NeverDropsNeverBlocks(), h.EndsWithAReason()} {
		wantNone(t, faults)
	}
	for _, r := range h.Readers {
		n := 0
		for _, m := range r.Messages {
			if m.GetDiff() != nil || m.GetResync() != nil {
				n++
			}
		}
		if r.Pace == streamcheck.Prompt && n != 600 || r.Pace == streamcheck.Slow && (n < 58 || n > 64) {
			t.Errorf("%s got %d messages about 600 revisions in a minute", r.Name, n)
		}
	}
}

// cuttableConn is a connection that can be cut like a pulled cable. After that nothing arrives, and neither side gets an error.
type cuttableConn struct {
	net.Conn
	cut chan struct{}
	end chan struct{}
	one sync.Once
}

func (h *cuttableConn) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	select {
	case <-h.cut:
		<-h.end
		return 0, net.ErrClosed
	default:
	}
	return n, err
}

func (h *cuttableConn) Write(p []byte) (int, error) {
	select {
	case <-h.cut:
		return len(p), nil
	default:
	}
	return h.Conn.Write(p)
}

func (h *cuttableConn) Close() error {
	h.one.Do(func() { close(h.end) })
	select {
	case <-h.cut:
		return nil
	default:
	}
	return h.Conn.Close()
}

// A client with a pulled cable is detected within the minute of the keepalive. Until then it does not affect the other readers.
func TestReaderWhoseConnectionIsCutIsEnded(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		cable := &cuttableConn{cut: make(chan struct{}), end: make(chan struct{})}
		conn := dialThrough(t, b.memory, func(c net.Conn) net.Conn { cable.Conn = c; return cable })
		defer conn.Close()
		gone, err := domtapv1.NewDomServiceClient(conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gone.Recv(); err != nil {
			t.Fatal(err)
		}
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()})
		s.next()
		close(cable.cut)
		start := time.Now()
		for i := range 100 {
			add(page, strings.Repeat("x", 2000)+fmt.Sprint(i))
			if m := s.next(); m.GetDiff().GetAddedCount() != 1 || m.GetCoalesced() != 1 {
				t.Fatalf("the other reader got %v", m)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the other reader waited %v", took)
		}
		s.cancel()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if push, _ := page.Observed(); push {
			t.Error("after a minute the server still streams to who is gone")
		}
	})
}

func dialThrough(t *testing.T, listener *bufconn.Listener, wrap func(net.Conn) net.Conn) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			c, err := listener.DialContext(ctx)
			if err != nil {
				return nil, err
			}
			return wrap(c), nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// loopback is a server on a loopback address, with a tab and connections to the server. It runs in real time, but no test depends on
// timing.
type loopback struct {
	t     *testing.T
	ctx   context.Context
	page  *actortest.Page
	tab   *actor.Tab
	conns []domtapv1.DomServiceClient
}

func newLoopback(t *testing.T, connections int, body []*actortest.Node) *loopback {
	t.Helper()
	browser := actortest.NewBrowser()
	browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Body: body} })
	pool := tabpool.New(browser, tabpool.Config{AllowURL: rules.AllowURL})
	server, err := New(pool, Config{Token: testToken, SendTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(serving, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c := &loopback{t: t, ctx: metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+testToken)}
	if c.tab, err = pool.Open(t.Context(), tabpool.OpenOptions{URL: shopURL}); err != nil {
		t.Fatal(err)
	}
	c.page = browser.Page(0)
	for range connections {
		conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithStaticStreamWindowSize(64<<10), grpc.WithStaticConnWindowSize(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		c.conns = append(c.conns, domtapv1.NewDomServiceClient(conn))
	}
	return c
}

// watch starts streams concurrently, and returns them when each has received its snapshot.
func (c *loopback) watch(n int) []domtapv1.DomService_WatchDomClient {
	c.t.Helper()
	streams := make([]domtapv1.DomService_WatchDomClient, n)
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			stream, err := c.conns[i%len(c.conns)].WatchDom(c.ctx, &domtapv1.WatchDomRequest{TabId: c.tab.ID(), MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				c.t.Error(err)
			}
			streams[i] = stream
		})
	}
	wg.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
	return streams
}

// change replaces most of the page's text in one revision, and returns that revision.
func (c *loopback) change(n int) {
	c.page.Update(func(main *actortest.Frame) {
		for i, node := range main.Body {
			node.Value = fmt.Sprintf("%0400d %d", n, i)
		}
	})
}

// catchUp reads until the stream shows the n-th change.
func catchUp(stream domtapv1.DomService_WatchDomClient, n int) error {
	want := fmt.Sprintf("%0400d 0", n)
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, e := range m.GetDiff().GetChanged() {
			if e.GetElement().GetValue() == want {
				return nil
			}
		}
		for _, e := range m.GetResync().GetSnapshot().GetElements() {
			if e.GetValue() == want {
				return nil
			}
		}
	}
}

// A thousand streams over four real connections start concurrently. Every tenth is never read. The others receive every final state.
func TestAThousandStreamsOverFourConnections(t *testing.T) {
	c := newLoopback(t, 4, buttons("B", 9))
	streams := c.watch(1000)
	for n := range 3 {
		c.change(n)
		var wg sync.WaitGroup
		for i, stream := range streams {
			if i%10 == 0 {
				continue
			}
			wg.Go(func() {
				if err := catchUp(stream, n); err != nil {
					t.Errorf("stream %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
}

// Limits for the cost of a reader that does not read, in bytes of heap, with both ends of its connection in this process. The cost is
// gRPC's buffers, and does not grow with the changes of the page.
const (
	stalledBytes = 512 << 10
	stalledDrift = 8 << 10
)

func TestMemoryOfReadersThatDoNotReadIsBounded(t *testing.T) {
	stalled, log, fill, more := 50, 800, 2000, 1000
	if os.Getenv("DOMTAP_LONG") != "" { // make test-long
		stalled, fill, more = 100, 3000, 2000
	}
	c := newLoopback(t, 2, buttons("B", 20))
	prompt := c.watch(1)[0]
	change := func(from, to int) uint64 {
		for n := from; n < to; n++ {
			c.change(n)
			if err := catchUp(prompt, n); err != nil {
				t.Fatal(err)
			}
		}
		return heap()
	}
	// Fill the log of the tab and the caches first.
	before := change(0, log)
	streams := c.watch(stalled)
	full := change(log, fill)
	after := change(fill, fill+more)
	t.Logf("heap: %d KiB before, %d KiB a reader when its buffers are full, %+d KiB a reader after %d more revisions",
		before>>10, (int64(full)-int64(before))/int64(stalled)>>10, (int64(after)-int64(full))/int64(stalled)>>10, more)
	if each := (int64(full) - int64(before)) / int64(stalled); each > stalledBytes {
		t.Errorf("a reader that does not read costs %d bytes", each)
	}
	if each := (int64(after) - int64(full)) / int64(stalled); each > stalledDrift {
		t.Errorf("%d revisions made it grow by %d bytes", more, each)
	}
	var wg sync.WaitGroup
	for _, stream := range streams {
		wg.Go(func() {
			if err := catchUp(stream, fill+more-1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// heap returns the heap memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
