package server

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rpc/preauth"
)

// TestStrangersShutNobodyOut holds more idle connections without a token than the daemon allows in total. It then calls as the operator
// over the socket, and with the token over TCP.
func TestStrangersShutNobodyOut(t *testing.T) {
	tcp, err := listen.TCP(t.Context(), "127.0.0.1:0", listen.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := listen.Socket(t.Context(), filepath.Join(t.TempDir(), "d.sock"))
	if err != nil {
		t.Fatal(err)
	}
	const most = 50
	server, err := New(tabpool.New(actortest.NewBrowser(), tabpool.Config{}), Config{Token: testToken, Limits: limit.Config{Connections: most}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, tcp, socket) }()

	const crowd = 2 * preauth.MaxConnections
	var strangers []net.Conn
	var ended sync.WaitGroup
	shownOut := make(chan struct{}, crowd)
	for range crowd {
		stranger, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stranger, http2.ClientPreface); err != nil {
			t.Fatal(err)
		}
		strangers = append(strangers, stranger)
		ended.Go(func() {
			_, _ = io.Copy(io.Discard, stranger) // until the listener or the test closes the connection
			shownOut <- struct{}{}
		})
	}
	for range crowd - preauth.MaxConnections {
		<-shownOut
	}
	authorized := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+testToken)
	for door, target := range map[string]string{"the socket": "unix:" + socket.Addr().String(), "TCP": tcp.Addr().String()} {
		conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := domtapv1.NewTabServiceClient(conn).ListTabs(authorized, &domtapv1.ListTabsRequest{}); err != nil {
			t.Errorf("a call over %s: %v", door, err)
		}
		_ = conn.Close()
	}
	for _, stranger := range strangers {
		_ = stranger.Close()
	}
	ended.Wait()
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
}
