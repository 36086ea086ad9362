package bench

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/server"
)

// readerConnections is the number of connections that a thousand readers share.
const readerConnections = 4

// BenchmarkThousandWatchers measures the median time from a change of a page to its readers. It compares a thousand readers with one
// reader, both over gRPC, and with a bare gRPC server that sends prepared bytes to a thousand such clients. The page is a fake, so that
// only the daemon and the clients are measured. The clients run in the same process on the same cores, and receiving and decoding takes
// most of the time.
func BenchmarkThousandWatchers(b *testing.B) {
	one, thousand := watchers(b, 1), watchers(b, 1000)
	bareOne, bareThousand := bareStreams(b, 1), bareStreams(b, 1000)
	var few, many, bareFew, bareMany times
	for b.Loop() {
		for range 20 {
			few = append(few, one.change(b)...)
			bareFew = append(bareFew, bareOne.change(b)...)
		}
		many = append(many, thousand.change(b)...)
		bareMany = append(bareMany, bareThousand.change(b)...)
	}
	for _, t := range []times{few, many, bareFew, bareMany} {
		slices.Sort(t)
	}
	ratio(b, "1000/1-p50", many.at(50), few.at(50), 5)
	ratio(b, "1000/1-p99", many.at(99), few.at(99), 20)
	ratio(b, "1000/bare-p50", many.at(50), bareMany.at(50), 1.5)
	b.Logf("bare gRPC: p50 %v to 1000, %v to 1, ratio %.1f; a message to each of 1000 takes %v, bare %v",
		bareMany.at(50), bareFew.at(50), float64(bareMany.at(50))/float64(bareFew.at(50)), many.at(100)/1000, bareMany.at(100)/1000)
}

// audience holds the readers of one source of changes. They read during the whole benchmark, as real clients do.
type audience struct {
	// strike makes the n-th change.
	strike func(n int)
	n      int
	start  atomic.Pointer[time.Time]
	took   times
	done   sync.WaitGroup
	failed atomic.Pointer[error]
}

// change makes one change and returns the delay for each reader.
func (a *audience) change(b *testing.B) times {
	b.Helper()
	a.done.Add(len(a.took))
	a.n++
	start := time.Now()
	a.start.Store(&start)
	a.strike(a.n)
	a.done.Wait()
	if err := a.failed.Load(); err != nil {
		b.Fatal(*err)
	}
	return a.took
}

// read runs one reader.
func (a *audience) read(i int, stream domtapv1.DomService_WatchDomClient) {
	for {
		m, err := stream.Recv()
		if stream.Context().Err() != nil {
			return
		}
		a.took[i] = time.Since(*a.start.Load())
		if err == nil && m.GetDiff() == nil {
			err = fmt.Errorf("reader %d got %v", i, m)
		}
		if err != nil {
			a.failed.Store(&err)
		}
		a.done.Done()
		if err != nil {
			return
		}
	}
}

// newAudience makes a number of readers watch a tab that changes by strike.
func newAudience(b *testing.B, readers int, socket, tab string, strike func(n int)) *audience {
	b.Helper()
	a := &audience{strike: strike, took: make(times, readers)}
	c := newReaderGroup(b, readers, socket, tab)
	b.Cleanup(c.leave)
	for i, stream := range c.streams {
		c.running.Go(func() { a.read(i, stream) })
	}
	return a
}

// readerGroup holds streams that have started.
type readerGroup struct {
	streams []domtapv1.DomService_WatchDomClient
	// running counts the goroutines that read the streams. leave ends the streams and waits for these goroutines.
	running sync.WaitGroup
	leave   func()
}

// newReaderGroup makes a number of readers watch a tab on a socket, and waits for their first messages.
func newReaderGroup(b *testing.B, readers int, socket, tab string) *readerGroup {
	b.Helper()
	c := new(readerGroup)
	var clients []domtapv1.DomServiceClient
	for range min(readerConnections, readers) {
		conn, err := endpoint.Dial(endpoint.Target{Socket: socket}, endpoint.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, domtapv1.NewDomServiceClient(conn))
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	c.leave = func() {
		cancel()
		c.running.Wait()
	}
	for i := range readers {
		stream, err := clients[i%len(clients)].WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
		if err == nil {
			_, err = stream.Recv()
		}
		if err != nil {
			b.Fatal(err)
		}
		c.streams = append(c.streams, stream)
	}
	return c
}

// watchers serves a page of 100 buttons to a number of readers.
func watchers(b *testing.B, readers int) *audience {
	b.Helper()
	browser := actortest.NewBrowser()
	const url = "https://shop.example/"
	browser.Serve(url, func() actortest.Screen {
		var body []*actortest.Node
		for i := range 100 {
			body = append(body, actortest.Button(fmt.Sprint("Button ", i)))
		}
		return actortest.Screen{Body: body}
	})
	pool := tabpool.New(browser, tabpool.Config{})
	server, err := server.New(pool, server.Config{})
	if err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(b.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	b.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	tab, err := pool.Open(ctx, tabpool.OpenOptions{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	page := browser.Page(0)
	return newAudience(b, readers, socket, tab.ID(), func(n int) {
		page.Update(func(main *actortest.Frame) { main.Body[n%100].Value = fmt.Sprint(n) })
	})
}

// fanOut is a bare server. Its streams wait for a channel to close, and then send a prepared message.
type fanOut struct {
	domtapv1.UnimplementedDomServiceServer
	next    atomic.Pointer[chan struct{}]
	message ready
}

// ready is an encoded message.
type ready []byte

// readyCodec sends a ready message unchanged.
type readyCodec struct{ encoding.CodecV2 }

func (c readyCodec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(ready); ok {
		return mem.BufferSlice{mem.SliceBuffer(m)}, nil
	}
	return c.CodecV2.Marshal(v)
}

func (f *fanOut) WatchDom(_ *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	for {
		next := *f.next.Load()
		if err := stream.SendMsg(f.message); err != nil {
			return err
		}
		select {
		case <-next:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// bareStreams makes a bare server send a message to a number of readers; the message resembles those that watchers receive.
func bareStreams(b *testing.B, readers int) *audience {
	b.Helper()
	button := &domtapv1.Element{Ref: 7, Index: 7, Tag: "button", Role: "button", Text: "Button 7", Value: "107"}
	message, err := proto.Marshal(&domtapv1.WatchDomResponse{
		Sequence: 8, Revision: 9, Epoch: "abcdefghijkl", Coalesced: 1,
		Event: &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{FromRevision: 8, ToRevision: 9, ChangedCount: 1, Changed: []*domtapv1.ChangedElement{{
			Ref: 7, Fields: []*domtapv1.FieldChange{{Field: "value", Old: "7", New: "107"}}, Element: button}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	f := &fanOut{message: message}
	strike := func(int) {
		fresh := make(chan struct{})
		if old := f.next.Swap(&fresh); old != nil {
			close(*old)
		}
	}
	strike(0)
	socket := filepath.Join(b.TempDir(), "bare")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(readyCodec{encoding.GetCodecV2("proto")}), grpc.MaxConcurrentStreams(4096))
	domtapv1.RegisterDomServiceServer(server, f)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	b.Cleanup(func() {
		server.Stop()
		<-served
	})
	return newAudience(b, readers, socket, "", strike)
}
