package server

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/tokens"
)

// BenchmarkAnswer measures the answers of GetDom on an unchanged page of 5,000 elements. That is the handler's work, without the page's and
// without encoding.
func BenchmarkAnswer(b *testing.B) {
	browser := actortest.NewBrowser()
	browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Body: buttons("Button", 5000)} })
	pool := tabpool.New(browser, tabpool.Config{})
	defer func() {
		if err := pool.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	}()
	tab, err := pool.Open(b.Context(), tabpool.OpenOptions{URL: shopURL})
	if err != nil {
		b.Fatal(err)
	}
	reading, err := tab.Read(b.Context(), actor.ReadOptions{Geometry: true})
	if err != nil {
		b.Fatal(err)
	}
	for name, r := range map[string]*domtapv1.GetDomRequest{
		"default":   {},
		"unlimited": {MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)},
	} {
		b.Run(name, func(b *testing.B) {
			shared := tabview.New().Of(tab)
			b.ReportAllocs()
			for b.Loop() {
				now, err := shared.At(reading.Head, reading.Head.Snapshot, tabview.SelectionOf(r))
				if err != nil {
					b.Fatal(err)
				}
				now.WithBoxes(reading.Layout)
				messages.Metadata(now.Settled(true), tokens.Name)
			}
		})
	}
}

// BenchmarkAccounted measures GetCompact of a page of 300 elements over an in-memory connection, with and without usage records. The
// difference is the cost of the records.
func BenchmarkAccounted(b *testing.B) {
	browser := actortest.NewBrowser()
	browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Body: buttons("Button", 300)} })
	pool := tabpool.New(browser, tabpool.Config{})
	server, err := New(pool, Config{})
	if err != nil {
		b.Fatal(err)
	}
	listener := pipe{bufconn.Listen(1 << 16), "unix"}
	ctx, stop := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	conn, err := grpc.NewClient("passthrough:///pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		stop()
		<-served
		_ = conn.Close()
	}()
	opened, err := domtapv1.NewTabServiceClient(conn).OpenTab(ctx, &domtapv1.OpenTabRequest{Url: shopURL})
	if err != nil {
		b.Fatal(err)
	}
	request := &domtapv1.GetCompactRequest{TabId: opened.GetTab().GetId()}
	for _, name := range []string{"counted", "not"} {
		if name == "not" {
			server.recorder.Count(nil)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := domtapv1.NewDomServiceClient(conn).GetCompact(ctx, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
