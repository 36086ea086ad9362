package origins

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/mcp"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/telemetry/metrics"
	"github.com/domtap/domtap/internal/testenv"
)

//go:embed attack.js
var attack string

const (
	token = "a-token-for-tests-of-forty-three-characters"
	limit = testenv.Patience
	// rebound is a host name that an attacker's DNS resolves to loopback.
	rebound = "rebound.example"
)

// TestNoPageReachesTheDaemon has a page in a tab of domtap's browser try every kind of request on every port that domtap serves, with the
// correct token, as if it had leaked. The page tries from another origin, and from the server's own address under a rebound name. Nothing
// may be answered, and no call may be counted.
func TestNoPageReachesTheDaemon(t *testing.T) {
	h := newListeners(t)
	page := testenv.Serve(t, testenv.HTML(`<!doctype html><title>Elsewhere</title><body>`))
	targets := map[string]string{}
	for name, address := range h.ports {
		targets[name] = "http://" + address
		targets[name+", by its name"] = "http://" + onPort(t, "localhost", address)
		targets[name+", by another name"] = "http://" + onPort(t, rebound, address)
	}
	tab := h.d.Open(page)
	h.try(tab, targets)
}

// TestNoReboundPageReachesTheDaemon serves a page, and then lets the daemon's ports answer at the page's address. To the browser both have
// the same origin, so its own protection does not apply.
func TestNoReboundPageReachesTheDaemon(t *testing.T) {
	h := newListeners(t)
	for name, address := range h.ports {
		page := testenv.Serve(t, testenv.HTML(`<!doctype html><title>Bait</title><body>`))
		door := newDoor(t, hostOf(t, page))
		origin := "http://" + onPort(t, rebound, door.listener.Addr().String())
		tab := h.d.Open(origin + "/")
		door.lead(address)
		h.try(tab, map[string]string{name: origin})
	}
}

// TestThePortOfGRPCSpeaksNothingElse sends what browsers can send: HTTP/1, with or without an upgrade to HTTP/2. There must be no HTTP/1
// response that a page could use. Browsers never use HTTP/2 without TLS from the start.
func TestThePortOfGRPCSpeaksNothingElse(t *testing.T) {
	address, _ := serveGRPC(t)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"POST /domtap.v1.TabService/ListTabs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/grpc\r\nContent-Length: 5\r\n\r\n\x00\x00\x00\x00\x00",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(limit))
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			t.Errorf("%q is answered with %s", request[:20], resp.Status)
		}
		conn.Close()
	}
}

// listeners is a daemon with all its kinds of listeners.
type listeners struct {
	t *testing.T
	d *testenv.Daemon
	// ports maps the kinds of listeners to their addresses.
	ports map[string]string
	// passed counts the requests that reached a handler.
	passed *atomic.Int64
	books  []*server.Server
}

func newListeners(t *testing.T) *listeners {
	t.Helper()
	h := &listeners{t: t, ports: map[string]string{}, passed: new(atomic.Int64)}
	address, grpcServer := serveGRPC(t) // before the browser ends, because it then closes its connections
	h.ports["grpc"], h.books = address, append(h.books, grpcServer)
	l, err := listen.Web(t.Context(), "127.0.0.1:0", listen.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	h.ports["web"] = l.Addr().String()
	flags := browser.Config{Flags: []string{"host-resolver-rules=MAP " + rebound + " 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"}}
	h.d = testenv.StartWithFronts(t, tabpool.Config{}, server.Config{AllowEval: true, Token: token}, flags, func(server *server.Server) {
		front, err := gateway.New(server, gateway.Config{Listener: l, Page: h.counted(ui.Handler("test"))})
		if err != nil {
			t.Fatal(err)
		}
		server.AddFront(front)
		h.books = append(h.books, server)
	})
	conn, err := grpc.NewClient("unix:"+h.d.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := mcp.New(t.Context(), mcp.Options{Version: "test", Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tools.Close(); conn.Close() })
	h.ports["mcp"] = hostOf(t, testenv.Serve(t, tools.Handler(token)))
	wall, err := guard.New(guard.Config{Loopback: true, NoPages: true})
	if err != nil {
		t.Fatal(err)
	}
	h.ports["metrics"] = hostOf(t, testenv.Serve(t, wall.Wrap(h.counted(metrics.New().Handler()))))
	return h
}

// counted counts the requests that reach next. It ignores navigation to the live page, because a user may follow a link.
func (h *listeners) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.passed.Add(1)
		h.t.Errorf("%s %s came through, with %v", r.Method, r.URL, r.Header)
		next.ServeHTTP(w, r)
	})
}

// serveGRPC serves gRPC over TCP with a fake browser.
func serveGRPC(t *testing.T) (address string, srv *server.Server) {
	t.Helper()
	l, err := listen.TCP(t.Context(), "127.0.0.1:0", listen.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err = server.New(tabpool.New(actortest.NewBrowser(), tabpool.Config{}), server.Config{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return l.Addr().String(), srv
}

// try attacks from a tab and checks what the page received.
func (h *listeners) try(tab string, targets map[string]string) {
	h.t.Helper()
	data, err := json.Marshal(targets)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := h.d.Pages.Evaluate(testenv.Within(h.t, 2*limit), &domtapv1.EvaluateRequest{
		TabId: tab, Expression: "() => (" + attack + ")(" + string(data) + ", " + `"` + token + `")`,
	})
	if err != nil || r.GetException() != "" {
		h.t.Fatalf("the attack did not run: %v %s", err, r.GetException())
	}
	var results map[string]map[string]string
	if err := json.Unmarshal([]byte(r.GetResultJson()), &results); err != nil || len(results) != len(targets) {
		h.t.Fatalf("the attack answers %s: %v", r.GetResultJson(), err)
	}
	for target, got := range results {
		for means, what := range got {
			if !harmless(means, what) {
				h.t.Errorf("%s by %s: the page got %q", target, means, what)
			}
		}
	}
	for _, server := range h.books {
		for _, m := range server.Usage().Total().Methods {
			if m.Name == "ListTabs" && m.Calls > 0 {
				h.t.Errorf("ListTabs was called %d times, %v failed", m.Calls, m.Failures)
			}
		}
	}
}

// harmless reports whether the result reveals nothing to a page.
func harmless(means, what string) bool {
	switch what {
	case "failed", "nothing", "opaque", "unreadable":
		return true
	case "sent", "begun": // the page always gets this result
		return means == "beacon" || means == "worker"
	}
	return strings.HasPrefix(what, "403 ") && !strings.Contains(what, "tabs")
}

// door is an address that forwards connections to one server, and later to another.
type door struct {
	listener net.Listener
	mu       sync.Mutex
	to       string
	open     map[net.Conn]bool
	running  sync.WaitGroup
}

func newDoor(t *testing.T, to string) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{listener: l, to: to, open: map[net.Conn]bool{}}
	d.running.Go(d.serve)
	t.Cleanup(func() {
		_ = l.Close()
		d.lead("")
		d.running.Wait()
	})
	return d
}

// lead forwards new connections to another address, and closes the old ones.
func (d *door) lead(to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = to
	for c := range d.open {
		_ = c.Close()
	}
	clear(d.open)
}

func (d *door) serve() {
	for {
		from, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		to, err := net.Dial("tcp", d.to)
		if err != nil {
			_ = from.Close()
			d.mu.Unlock()
			continue
		}
		d.open[from], d.open[to] = true, true
		d.mu.Unlock()
		for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
			d.running.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_, _ = way[0].Close(), way[1].Close()
			})
		}
	}
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// onPort returns an address with another host name.
func onPort(t *testing.T, name, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(name, port)
}
