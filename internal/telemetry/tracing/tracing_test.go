package tracing

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

const secret = "https://shop.example/secret?token=1"

func TestACallIsPartOfItsClientsTraceAndTellsNothingOfThePage(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tr, err := start(t.Context(), trace.WithSyncer(spans), "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := actortest.NewBrowser()
	b.Serve(secret, func() actortest.Screen {
		return actortest.Screen{Title: "Hidden", Body: []*actortest.Node{actortest.Button("Hidden")}}
	})
	server, err := server.New(tabpool.New(b, tabpool.Config{Tracer: tr}), server.Config{Traces: tr.Calls()})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := listen.Socket(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	const parent = "0af7651916cd43dd8448eb211c80319c"
	call := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+parent+"-b7ad6b7169203331-01")
	if _, err := domtapv1.NewTabServiceClient(conn).OpenTab(call, &domtapv1.OpenTabRequest{Url: secret}); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	names := map[string]bool{}
	for _, s := range spans.GetSpans().Snapshots() {
		names[s.Name()] = true
		if s.SpanContext().TraceID().String() != parent {
			t.Errorf("%s is of the trace %s", s.Name(), s.SpanContext().TraceID())
		}
		text := s.Name() + s.Status().Description
		for _, a := range s.Attributes() {
			text += string(a.Key) + a.Value.String()
		}
		if strings.Contains(text, "shop") || strings.Contains(text, "Hidden") {
			t.Errorf("%s tells of the page: %s", s.Name(), text)
		}
	}
	if !names["domtap.v1.TabService/OpenTab"] || !names["turn navigate"] {
		t.Errorf("got %v", names)
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnEndpointIsAURL(t *testing.T) {
	for endpoint, good := range map[string]bool{"http://127.0.0.1:4317": true, "https://otel.example:4317": true, "127.0.0.1:4317": false, "grpc://x:1": false, "": false} {
		if err := Check(endpoint); (err == nil) != good {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
