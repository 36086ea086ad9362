package mcp

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
)

const shopURL = "https://shop.example/"

// bench is an MCP server in front of a daemon with a fake browser.
type bench struct {
	t       *testing.T
	browser *actortest.Browser
	pool    *tabpool.Pool
	conn    *grpc.ClientConn
	server  *Server
	stop    context.CancelFunc
	served  chan error
}

// host is a session of a host.
type host struct {
	*mcp.ClientSession
	t *testing.T

	mu sync.Mutex
	// progress, updates and lists hold the received notifications.
	progress []string
	updates  []string
	lists    int
}

// inBubble runs a test with its own server in fake time. The bubble fails the test if a goroutine is left at the end.
func inBubble(t *testing.T, o Options, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, o)
		defer b.close()
		test(t, b)
	})
}

// unixPipe is an in-memory listener whose connections look like unix sockets, which need no token.
type unixPipe struct{ *bufconn.Listener }

type unixConn struct{ net.Conn }

type unixAddr struct{}

func (unixAddr) Network() string { return "unix" }
func (unixAddr) String() string  { return "pipe" }

func (unixPipe) Addr() net.Addr       { return unixAddr{} }
func (unixConn) RemoteAddr() net.Addr { return unixAddr{} }

func (p unixPipe) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	return unixConn{conn}, err
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{t: t, browser: actortest.NewBrowser(), served: make(chan error, 1)}
	b.pool = tabpool.New(b.browser, tabpool.Config{AllowURL: rules.AllowURL})
	daemon, err := server.New(b.pool, server.Config{Searcher: search.New(finder{}), Sessions: sessions.New(b.pool, b.browser, sessions.Config{Max: 5})})
	if err != nil {
		t.Fatal(err)
	}
	memory := bufconn.Listen(1 << 16)
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	go func() { b.served <- daemon.Serve(ctx, unixPipe{memory}) }()
	b.conn, err = grpc.NewClient("passthrough:///pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return memory.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	o.Conn = b.conn
	if b.server, err = New(ctx, o); err != nil {
		t.Fatal(err)
	}
	b.browser.Serve(shopURL, func() actortest.Screen {
		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{
			actortest.Heading(1, "Things"), actortest.Button("Pay"), actortest.Link("Cart", shopURL+"cart"), actortest.Textbox("Email", ""),
		}}
	})
	return b
}

func (b *bench) close() {
	b.t.Helper()
	b.server.Close()
	b.conn.Close()
	b.stop()
	if err := <-b.served; err != nil {
		b.t.Errorf("the daemon ended with %v", err)
	}
}

// host starts a session.
func (b *bench) host() *host {
	b.t.Helper()
	h := &host{t: b.t}
	near, far := mcp.NewInMemoryTransports()
	if _, err := b.server.sdk.Connect(b.t.Context(), far, nil); err != nil {
		b.t.Fatal(err)
	}
	h.connect(near)
	return h
}

// connect opens the session over a transport.
func (h *host) connect(over mcp.Transport) {
	h.t.Helper()
	note := func(change func()) {
		h.mu.Lock()
		defer h.mu.Unlock()
		change()
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			note(func() { h.progress = append(h.progress, r.Params.Message) })
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			note(func() { h.updates = append(h.updates, r.Params.URI) })
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { note(func() { h.lists++ }) },
	})
	session, err := client.Connect(h.t.Context(), over, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.ClientSession = session
}

// told returns the notifications that the host has received so far, and clears them.
func (h *host) told() (progress, updates []string, lists int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	progress, updates, lists = h.progress, h.updates, h.lists
	h.progress, h.updates, h.lists = nil, nil, 0
	return progress, updates, lists
}

type object = map[string]any

// call calls a tool and returns the text of its answer and whether it is an error.
func (h *host) call(tool string, arguments object) (string, bool) {
	h.t.Helper()
	result, err := h.CallTool(h.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	return text(result), result.IsError
}

// do makes a call that must succeed.
func (h *host) do(tool string, arguments object) string {
	h.t.Helper()
	got, failed := h.call(tool, arguments)
	if failed {
		h.t.Fatalf("%s: %s", tool, got)
	}
	return got
}

// text returns the text of a result.
func text(r *mcp.CallToolResult) string {
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

// wantAll fails unless the text contains all of these parts in this order.
func wantAll(t *testing.T, got string, parts ...string) {
	t.Helper()
	rest := got
	for _, part := range parts {
		i := strings.Index(rest, part)
		if i < 0 {
			t.Errorf("there is no %q where it should be in:\n%s", part, got)
			return
		}
		rest = rest[i+len(part):]
	}
}

// settle waits until all goroutines are blocked. That includes notifications, which the SDK delays by some milliseconds.
func settle() {
	time.Sleep(100 * time.Millisecond) // fake time
	synctest.Wait()
}
