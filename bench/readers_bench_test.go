package bench

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc"
)

// BenchmarkThousandWatchers is the median time from a change of a page to its readers, with a thousand of them
// against one, both over gRPC. The page is a fake, so that nothing but the daemon and the clients is measured;
// the clients run in the same process, and on the same cores.
func BenchmarkThousandWatchers(b *testing.B) {
	one, thousand := newAudience(b, 1), newAudience(b, 1000)
	var few, many times
	for b.Loop() {
		for range 20 {
			few = append(few, one.change(b)...)
		}
		many = append(many, thousand.change(b)...)
	}
	slices.Sort(few)
	slices.Sort(many)
	ratio(b, "1000/1-p50", many.at(50), few.at(50), 5)
	ratio(b, "1000/1-p99", many.at(99), few.at(99), 20)
	b.Logf("a message to each of 1000 takes %v", many.at(100)/1000)
}

// audience is a tab and its readers.
type audience struct {
	page    *actortest.Page
	streams []domtapv1.DomService_WatchDomClient
	n       int
}

// newAudience serves a page of 100 buttons to so many readers, over four connections.
func newAudience(b *testing.B, readers int) *audience {
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
	pool := actor.NewPool(browser, actor.Config{})
	server, err := rpc.New(pool, rpc.Config{})
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
	tab, err := pool.Open(ctx, actor.OpenOptions{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	a := &audience{page: browser.Page(0)}
	var clients []domtapv1.DomServiceClient
	for range min(4, readers) {
		conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, domtapv1.NewDomServiceClient(conn))
	}
	for i := range readers {
		stream, err := clients[i%len(clients)].WatchDom(b.Context(), &domtapv1.WatchDomRequest{TabId: tab.ID()})
		if err == nil {
			_, err = stream.Recv()
		}
		if err != nil {
			b.Fatal(err)
		}
		a.streams = append(a.streams, stream)
	}
	return a
}

// change makes one change and says how long each reader waited for it.
func (a *audience) change(b *testing.B) times {
	b.Helper()
	took := make(times, len(a.streams))
	var ready, done sync.WaitGroup
	var start time.Time
	begin := make(chan struct{})
	for i, stream := range a.streams {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			m, err := stream.Recv()
			if took[i] = time.Since(start); err != nil || m.GetDiff() == nil {
				b.Errorf("reader %d got %v, %v", i, m, err)
			}
		})
	}
	ready.Wait()
	start = time.Now()
	close(begin)
	a.n++
	a.page.Update(func(main *actortest.Frame) { main.Body[a.n%100].Value = fmt.Sprint(a.n) })
	done.Wait()
	return took
}
