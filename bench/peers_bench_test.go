package bench

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/peers"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkPeers compares calls for a tab through another node of a cluster with calls to the tab's own node, in turns, on loopback. It
// reports the medians, the additional time of the other node, and the additional processor time of a call in the client and both nodes
// together. A change is timed from the call that makes it to its arrival at the reader.
func BenchmarkPeers(b *testing.B) {
	fake := actortest.NewBrowser()
	fake.Serve("https://shop.example/", func() actortest.Screen {
		s := actortest.Screen{Title: "Shop"}
		for i := range 200 {
			s.Body = append(s.Body, actortest.Button(fmt.Sprint("Button ", i)))
		}
		return s
	})
	b.Run("fake", func(b *testing.B) {
		benchmarkPeers(b, newTwoNodes(b, fake), "https://shop.example/", func(p *twoNodes, _ string, n int) error {
			fake.Page(0).Update(func(main *actortest.Frame) { main.Body[0].Text = fmt.Sprint("Change ", n) })
			return nil
		})
	})
	b.Run("chromium", func(b *testing.B) {
		page := "<!doctype html><title>Shop</title><body>"
		for i := range 200 {
			page += fmt.Sprint("<button>Button ", i, "</button>")
		}
		benchmarkPeers(b, newTwoNodes(b, testenv.StartBrowser(b)), testenv.Serve(b, serve(page)), func(p *twoNodes, tab string, n int) error {
			script := fmt.Sprintf(`document.querySelector("button").textContent = "Change %d"`, n)
			_, err := domtapv1.NewPageServiceClient(p.far).Evaluate(b.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: script})
			return err
		})
	})
}

// twoNodes connects to a node without tabs, and to a node that has all tabs.
type twoNodes struct {
	near, far *grpc.ClientConn
}

// benchmarkPeers measures both kinds of calls on one page.
func benchmarkPeers(b *testing.B, p *twoNodes, url string, change func(p *twoNodes, tab string, n int) error) {
	opened, err := domtapv1.NewTabServiceClient(p.near).OpenTab(b.Context(), &domtapv1.OpenTabRequest{Url: url})
	if err != nil {
		b.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	b.Run("GetDom", func(b *testing.B) { p.calls(b, tab) })
	b.Run("WatchDom", func(b *testing.B) {
		p.changes(b, tab, func(n int) error { return change(p, tab, n) })
	})
}

// calls reads the page in blocks of 100 calls, alternating between the nodes.
func (p *twoNodes) calls(b *testing.B, tab string) {
	var took [2][]time.Duration
	var spent [2]time.Duration
	for b.Loop() {
		for i, conn := range []*grpc.ClientConn{p.far, p.near} {
			dom := domtapv1.NewDomServiceClient(conn)
			before := spentUntilNow(b)
			for range 100 {
				start := time.Now()
				if _, err := dom.GetDom(b.Context(), &domtapv1.GetDomRequest{TabId: tab}); err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], time.Since(start))
			}
			spent[i] += spentUntilNow(b) - before
		}
	}
	report(b, took)
	b.ReportMetric(float64((spent[1]-spent[0]).Microseconds())/float64(len(took[0])), "added-cpu-µs")
}

// changes watches the page in blocks of 20 changes, alternating between the nodes.
func (p *twoNodes) changes(b *testing.B, tab string, change func(n int) error) {
	var took [2][]time.Duration
	n := 0
	for b.Loop() {
		for i, conn := range []*grpc.ClientConn{p.far, p.near} {
			ctx, cancel := context.WithCancel(b.Context())
			stream, err := domtapv1.NewDomServiceClient(conn).WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				b.Fatal(err)
			}
			for range 20 {
				n++
				start := time.Now()
				if err := change(n); err != nil {
					b.Fatal(err)
				}
				if _, err := stream.Recv(); err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], time.Since(start))
			}
			cancel()
		}
	}
	report(b, took)
}

// report reports the medians at the tab's node and at the other node.
func report(b *testing.B, took [2][]time.Duration) {
	local, remote := median(took[0]), median(took[1])
	b.ReportMetric(float64(local.Microseconds()), "local-p50-µs")
	b.ReportMetric(float64(remote.Microseconds()), "remote-p50-µs")
	b.ReportMetric(float64((remote - local).Microseconds()), "added-p50-µs")
}

func spentUntilNow(b *testing.B) time.Duration {
	b.Helper()
	spent, err := processorTime()
	if err != nil {
		b.Skip(err)
	}
	return spent
}

// allAtFar is the directory of a cluster in which one node has all sessions and tabs.
type allAtFar struct{ far peers.Node }

func (d allAtFar) TabOwner(context.Context, string, peers.Freshness) (peers.Node, error) {
	return d.far, nil
}

func (d allAtFar) SessionOwner(context.Context, string, peers.Freshness) (peers.Node, error) {
	return d.far, nil
}
func (d allAtFar) Place(context.Context, string) (peers.Node, error) { return d.far, nil }
func (d allAtFar) Nodes() []peers.Node                               { return []peers.Node{d.far} }
func (d allAtFar) Changed() <-chan struct{}                          { return nil }

// newTwoNodes starts both nodes. The far one has the browser.
func newTwoNodes(b *testing.B, browser interface {
	driver.Browser
	sessions.Browser
}) *twoNodes {
	b.Helper()
	between, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	own := peers.Credentials{Token: "a-token-of-a-cluster-of-forty-three-letters"}
	far := peers.Node{ID: "far", Address: between.Addr().String()}
	itself := far
	itself.Self = true
	return &twoNodes{
		far: startNode(b, browser, allAtFar{itself}, own, func(s *server.Server) {
			front, err := peers.NewServer(s, peers.ServerConfig{Listener: between, Credentials: own})
			if err != nil {
				b.Fatal(err)
			}
			s.AddFront(front)
		}),
		near: startNode(b, actortest.NewBrowser(), allAtFar{far}, own, func(*server.Server) {}),
	}
}

// startNode starts one node and connects to its socket.
func startNode(b *testing.B, browser interface {
	driver.Browser
	sessions.Browser
}, directory peers.Directory, own peers.Credentials, prepare func(*server.Server),
) *grpc.ClientConn {
	b.Helper()
	proxy, err := peers.New(peers.Config{Directory: directory, Credentials: own})
	if err != nil {
		b.Fatal(err)
	}
	pool := tabpool.New(browser, tabpool.Config{ReadAhead: true})
	s, err := server.New(pool, server.Config{Peers: proxy, AllowEval: true, Sessions: sessions.New(pool, browser, sessions.Config{})})
	if err != nil {
		b.Fatal(err)
	}
	prepare(s)
	socket := filepath.Join(b.TempDir(), "s")
	listener, err := listen.Socket(b.Context(), socket)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	b.Cleanup(func() {
		_ = conn.Close()
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
		proxy.Close()
	})
	return conn
}
