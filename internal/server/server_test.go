package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// calls holds one call of each kind that authorization handles separately.
var calls = map[string]func(context.Context, *grpc.ClientConn) error{
	"unary": func(ctx context.Context, conn *grpc.ClientConn) error {
		_, err := domtapv1.NewTabServiceClient(conn).ListTabs(ctx, &domtapv1.ListTabsRequest{})
		return err
	},
	"stream": func(ctx context.Context, conn *grpc.ClientConn) error {
		stream, err := domtapv1.NewDomServiceClient(conn).WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: "t1"})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	},
	"reflection": func(ctx context.Context, conn *grpc.ClientConn) error {
		stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
		if err != nil {
			return err
		}
		ask := &reflectionv1.ServerReflectionRequest_ListServices{}
		if err := stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: ask}); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_, err = stream.Recv()
		return errors.Join(err, stream.CloseSend())
	},
	"health": func(ctx context.Context, conn *grpc.ClientConn) error {
		_, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: "domtap.v1.DomService"})
		return err
	},
}

func TestAuthorization(t *testing.T) {
	tokens := map[string][]string{
		"none":    nil,
		"right":   {"authorization", "Bearer " + testToken},
		"lower":   {"authorization", "bearer " + testToken},
		"wrong":   {"authorization", "Bearer " + testToken + "x"},
		"prefix":  {"authorization", "Bearer " + testToken[:10]},
		"empty":   {"authorization", "Bearer "},
		"bare":    {"authorization", testToken},
		"another": {"authorization", "Basic " + testToken},
	}
	for _, network := range []string{"unix", "tcp"} {
		for name, token := range tokens {
			synctest.Test(t, func(t *testing.T) {
				b := newBenchOn(t, Config{Token: testToken}, network)
				defer b.close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ctx = metadata.AppendToOutgoingContext(ctx, token...)
				for kind, call := range calls {
					got := status.Code(call(ctx, b.conn)) == codes.Unauthenticated
					want := network == "tcp" && kind != "health" && name != "right" && name != "lower"
					if got != want {
						t.Errorf("%s over %s with token %s: unauthenticated %v, want %v", kind, network, name, got, want)
					}
				}
			})
		}
	}
}

func TestUnauthenticatedCallsLearnNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, Config{Token: testToken}, "tcp")
		defer b.close()
		_, err := b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{})
		wantCode(t, err, codes.Unauthenticated, "TOKEN")
		if strings.Contains(err.Error(), testToken) || !strings.Contains(err.Error(), "domtap token") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestServeRefusesListenersWithoutToken(t *testing.T) {
	for _, c := range []struct {
		listeners []net.Listener
		says      string
	}{
		{nil, "nothing to listen on"},
		{[]net.Listener{pipe{bufconn.Listen(1), "tcp"}}, "--token-file"},
		{[]net.Listener{pipe{bufconn.Listen(1), "unix"}, pipe{bufconn.Listen(1), "tcp"}}, "--token-file"},
	} {
		server, err := New(tabpool.New(actortest.NewBrowser(), tabpool.Config{}), Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Serve(t.Context(), c.listeners...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want an error that says %q", err, c.says)
		}
		for _, l := range c.listeners {
			if _, err := l.(pipe).Listener.Accept(); err == nil {
				t.Error("a listener is left open")
			}
		}
	}
}

func TestNewRefusesBadConfigs(t *testing.T) {
	if _, err := New(nil, Config{}); err == nil {
		t.Error("a server without a pool was made")
	}
	pool := tabpool.New(actortest.NewBrowser(), tabpool.Config{})
	if _, err := New(pool, Config{Heartbeat: -1}); err == nil {
		t.Error("a negative heartbeat was accepted")
	}
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServeEndsWhenAListenerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		b.shop()
		b.memory.Close()
		if err := <-b.served; err == nil {
			t.Error("Serve ended without an error")
		}
		if tabs := b.pool.Tabs(); len(tabs) > 0 {
			t.Errorf("%d tabs are left", len(tabs))
		}
		b.conn.Close()
		b.stop()
	})
}

// Neither a stream of the health service nor a reader that does not read may delay the stop of the server beyond its time limit.
func TestServeStopsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		tab, page := b.shop(buttons("B", 2)...)
		health, err := healthv1.NewHealthClient(b.conn).Watch(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := health.Recv(); err != nil || m.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health is %v, %v", m, err)
		}
		b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()})
		for i := range 50 {
			page.Update(func(main *actortest.Frame) { main.Body = buttons(fmt.Sprint(strings.Repeat("x", 5000), i), 20) })
			synctest.Wait()
		}
		start := time.Now()
		b.stop()
		if m, err := health.Recv(); err != nil || m.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
			t.Errorf("while stopping, health is %v, %v", m, err)
		}
		if err := <-b.served; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("stopping took %v", took)
		}
		b.conn.Close()
	})
}

// This test uses real sockets. The unix socket needs no token, loopback TCP does.
func TestServeOnRealListeners(t *testing.T) {
	pool := tabpool.New(actortest.NewBrowser(), tabpool.Config{})
	server, err := New(pool, Config{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	dir, err := os.MkdirTemp("", "dt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "d.sock")
	socket, err := listen.Socket(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := listen.TCP(ctx, "127.0.0.1:0", listen.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, socket, tcp) }()
	authorized := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+testToken)
	for _, c := range []struct {
		name, target string
		ctx          context.Context
		want         codes.Code
	}{
		{"socket", "unix:" + path, t.Context(), codes.OK},
		{"TCP", tcp.Addr().String(), t.Context(), codes.Unauthenticated},
		{"TCP with token", tcp.Addr().String(), authorized, codes.OK},
	} {
		conn, err := grpc.NewClient(c.target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Code(calls["unary"](c.ctx, conn)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		conn.Close()
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// lines collects log records. slog writes one at a time.
type lines struct{ bytes.Buffer }

func TestLogHoldsNoContent(t *testing.T) {
	out := new(lines)
	logger := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	inBubble(t, Config{Logger: logger}, func(t *testing.T, b *bench) {
		secret := actortest.Button("Secret text")
		secret.Act = func(*actortest.Page, driver.Action) error {
			return apierr.Errorf(apierr.NotActionable, "covered by Secret text")
		}
		tab, page := b.shop(actortest.Textbox("Field", ""), secret)
		first := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()}).GetElements()[1].GetRef()
		_, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: ref(0), Text: "Secret typed"}}}, clickOn(ref(1)),
		}})
		if err != nil {
			t.Fatal(err)
		}
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[:1] })
		_, err = b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), RootRef: &first})
		if wantCode(t, err, codes.FailedPrecondition, "STALE_REF"); !strings.Contains(err.Error(), "Secret text") {
			t.Errorf("the client is not told what the element was: %v", err)
		}
		page.OpenDialog(driver.Dialog{Type: "alert", Message: "Secret words"})
		_, err = b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
		wantCode(t, err, codes.FailedPrecondition, "DIALOG_OPEN")
	})
	log := out.String()
	if strings.Contains(log, "Secret") || strings.Contains(log, "shop.example") {
		t.Errorf("the log holds content:\n%s", log)
	}
	for _, want := range []string{
		"method=/domtap.v1.ActionService/Interact code=OK", "code=FailedPrecondition", "reason=STALE_REF", "peer=\"unix pipe\"", "took=",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

func TestPanicsAreContained(t *testing.T) {
	out := new(lines)
	inBubble(t, Config{Logger: slog.New(slog.NewTextHandler(out, nil))}, func(t *testing.T, b *bench) {
		handler := func(context.Context, any) (any, error) { panic("Secret text") }
		_, err := b.unary("/grpc.health.v1.Health/Check", handler)(t.Context(), &domtapv1.ListTabsRequest{})
		wantCode(t, err, codes.Internal, "")
		streamed := func(any, grpc.ServerStream) error { panic("Secret text") }
		err = b.stream("/grpc.health.v1.Health/Watch", streamed)(nil, noStream{ctx: t.Context()})
		wantCode(t, err, codes.Internal, "")
		if strings.Contains(err.Error(), "Secret") || strings.Contains(out.String(), "Secret") {
			t.Errorf("the panic's value got out: %v\n%s", err, out)
		}
		if !strings.Contains(out.String(), "server_test.go") {
			t.Errorf("the log does not say where it happened:\n%s", out)
		}
	})
}

// unary returns a handler behind the interceptors, in the form that fronts call.
func (b *bench) unary(method string, handler grpc.UnaryHandler) grpc.UnaryHandler {
	chain, _ := b.server.Interceptors()
	for _, inner := range slices.Backward(chain) {
		next := handler
		handler = func(ctx context.Context, req any) (any, error) {
			return inner(ctx, req, &grpc.UnaryServerInfo{FullMethod: method}, next)
		}
	}
	return handler
}

// stream does the same for streams.
func (b *bench) stream(method string, handler grpc.StreamHandler) grpc.StreamHandler {
	_, chain := b.server.Interceptors()
	for _, inner := range slices.Backward(chain) {
		next := handler
		handler = func(srv any, stream grpc.ServerStream) error {
			return inner(srv, stream, &grpc.StreamServerInfo{FullMethod: method, IsServerStream: true}, next)
		}
	}
	return handler
}

// noStream is a stream that has only a context.
type noStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s noStream) Context() context.Context { return s.ctx }
