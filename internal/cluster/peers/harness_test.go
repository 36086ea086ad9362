package peers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	clusterToken  = "a-token-of-a-cluster-of-forty-three-letters"
	operatorToken = "a-token-for-tests-of-forty-three-characters"
	aliceToken    = "the-token-of-alice-of-forty-three-characters"
	shopURL       = "https://shop.example/"
)

// cluster is a set of nodes in one process, each with a fake browser and real gRPC on loopback.
type cluster struct {
	t testing.TB

	mu    sync.Mutex
	nodes []*node
	// sessions maps placed sessions to their nodes. next is the node of the next session.
	sessions map[string]int
	next     int
	changed  chan struct{}
}

// node is one node of a cluster, with a client.
type node struct {
	Node
	cluster *cluster
	index   int
	browser *actortest.Browser
	pool    *tabpool.Pool
	proxy   *Proxy
	server  *server.Server
	conn    *grpc.ClientConn
	address string
	stop    context.CancelFunc
	served  chan error
	gone    bool
	// stale overrides the Cached answers of the node's directory.
	stale map[string]int
	// silent is the error of the directory for answers that need another node. If nil, the directory returns the true answer.
	silent error
	*counter
}

// counter counts a node's calls and streams in progress, and the total of its calls with a deadline.
type counter struct{ calls, streams, watching, bounded atomic.Int64 }

func (c *counter) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if _, ok := ctx.Deadline(); ok {
			c.bounded.Add(1)
		}
		c.calls.Add(1)
		defer c.calls.Add(-1)
		return handler(ctx, req)
	}
}

func (c *counter) Stream() grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		c.streams.Add(1)
		defer c.streams.Add(-1)
		return handler(srv, stream)
	}
}

func (c *counter) Watching(by int)         { c.watching.Add(int64(by)) }
func (c *counter) Sent(time.Duration, int) {}
func (c *counter) Resynced(string)         {}
func (c *counter) Refused(string)          {}

// options set up the nodes of a cluster.
type options struct {
	limits limit.Config
	proxy  Config
	// between changes the address at which the other nodes call a node.
	between func(index int, address string) string
	// credentials returns the credentials of a node. If nil, nodes have a token and no TLS.
	credentials func(index int) Credentials
	page        func() actortest.Screen
	// copies creates the copies of a node. If nil, nodes keep no copies.
	copies func(n *node) Copies
}

func shop() actortest.Screen {
	return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Buy"), actortest.Button("Sell")}}
}

func newCluster(t testing.TB, count int, o options) *cluster {
	t.Helper()
	c := &cluster{t: t, sessions: map[string]int{}, changed: make(chan struct{})}
	for i := range count {
		c.add(i, o)
	}
	t.Cleanup(c.close)
	return c
}

// add starts a node.
func (c *cluster) add(index int, o options) *node {
	c.t.Helper()
	n := &node{cluster: c, index: index, browser: actortest.NewBrowser(), served: make(chan error, 1), stale: map[string]int{}, counter: new(counter)}
	page := o.page
	if page == nil {
		page = shop
	}
	n.browser.Serve(shopURL, page)
	n.pool = tabpool.New(n.browser, tabpool.Config{AllowURL: rules.AllowURL, Opaque: func(string) bool { return true }})
	between, public := c.listen(), c.listen()
	n.Node = Node{ID: fmt.Sprintf("n%d", index+1), Incarnation: "1", Address: between.Addr().String()}
	if o.between != nil {
		n.Address = o.between(index, n.Address)
	}
	own := Credentials{Token: clusterToken}
	if o.credentials != nil {
		own = o.credentials(index)
	}
	cfg := o.proxy
	cfg.Directory, cfg.Credentials = directory{n}, own
	if o.copies != nil {
		cfg.Copies = o.copies(n)
	}
	var err error
	if n.proxy, err = New(cfg); err != nil {
		c.t.Fatal(err)
	}
	clients := identity.New(context.Background(), operatorToken)
	clients.Set([]identity.Entry{{Principal: identity.ClientPrincipal("alice", identity.All), Sum: sha256.Sum256([]byte(aliceToken))}})
	n.server, err = server.New(n.pool, server.Config{
		Token: operatorToken, Clients: clients, Peers: n.proxy, Cluster: operated{n: n}, Limits: o.limits, Metrics: n.counter,
		Sessions: sessions.New(n.pool, n.browser, sessions.Config{Max: 5}),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	front, err := NewServer(n.server, ServerConfig{Listener: between, Credentials: own, MaxRequest: 2 * o.limits.RequestBytes, MaxAnswer: o.limits.ResponseBytes})
	if err != nil {
		c.t.Fatal(err)
	}
	n.server.AddFront(front)
	ctx, stop := context.WithCancel(context.Background())
	n.stop, n.address = stop, public.Addr().String()
	go func() { n.served <- n.server.Serve(ctx, public) }()
	n.conn = n.dial(operatorToken)
	c.mu.Lock()
	c.nodes = append(c.nodes, n)
	c.mu.Unlock()
	c.signal()
	return n
}

func (c *cluster) listen() net.Listener {
	c.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

// signal reports a change of the nodes.
func (c *cluster) signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// close ends all nodes.
func (c *cluster) close() {
	for _, n := range c.nodes {
		n.end()
	}
}

// end ends a node in good order.
func (n *node) end() {
	n.cluster.mu.Lock()
	gone := n.gone
	n.gone = true
	n.cluster.mu.Unlock()
	if gone {
		return
	}
	n.cluster.signal()
	n.stop()
	if err := <-n.served; err != nil {
		n.cluster.t.Errorf("Serve of %s ended with %v", n.ID, err)
	}
	n.proxy.Close()
	_ = n.conn.Close()
}

// dial connects another client to a node.
func (n *node) dial(token string, more ...grpc.DialOption) *grpc.ClientConn {
	n.cluster.t.Helper()
	conn, err := grpc.NewClient(n.address, append(more, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(listen.MaxMessage)),
		grpc.WithPerRPCCredentials(bearer(token)))...)
	if err != nil {
		n.cluster.t.Fatal(err)
	}
	n.cluster.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

// open opens a tab on a node, through any node's connection. The tab is in a new session, or in the default session if that is on this node
// or not placed yet.
func (c *cluster) open(conn *grpc.ClientConn, at int, session string) (*domtapv1.Tab, *actortest.Page) {
	c.t.Helper()
	c.mu.Lock()
	c.next = at
	browser := c.nodes[at].browser
	c.mu.Unlock()
	if session != "" {
		if _, err := domtapv1.NewSessionServiceClient(conn).CreateSession(c.t.Context(), &domtapv1.CreateSessionRequest{SessionId: session}); err != nil {
			c.t.Fatal(err)
		}
	}
	before := 0
	for browser.Page(before) != nil {
		before++
	}
	resp, err := domtapv1.NewTabServiceClient(conn).OpenTab(c.t.Context(), &domtapv1.OpenTabRequest{Url: shopURL, SessionId: session})
	if err != nil {
		c.t.Fatal(err)
	}
	if browser.Page(before) == nil {
		c.t.Fatalf("the tab is not at node %d", at)
	}
	return resp.GetTab(), browser.Page(before)
}

// directory is one node's view of the cluster. It is accurate except for stale.
type directory struct{ n *node }

func (d directory) TabOwner(_ context.Context, tab string, read Freshness) (Node, error) {
	c := d.n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := d.n.stale[tab]; ok && read == Cached {
		return d.seen(c.nodes[at]), nil
	}
	if d.n.silent != nil {
		return Node{}, d.n.silent
	}
	for _, n := range c.nodes {
		if _, err := n.pool.Tab(tab); err == nil && !n.gone {
			return d.seen(n), nil
		}
	}
	return Node{}, ErrUnknown
}

func (d directory) SessionOwner(_ context.Context, session string, read Freshness) (Node, error) {
	c := d.n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := d.n.stale[session]; ok && read == Cached {
		return d.seen(c.nodes[at]), nil
	}
	if d.n.silent != nil {
		return Node{}, d.n.silent
	}
	if at, ok := c.sessions[session]; ok {
		return d.seen(c.nodes[at]), nil
	}
	return Node{}, ErrUnknown
}

func (d directory) Place(_ context.Context, session string) (Node, error) {
	c := d.n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if session != "" {
		c.sessions[session] = c.next
	}
	return d.seen(c.nodes[c.next]), nil
}

func (d directory) Nodes() []Node {
	c := d.n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Node
	for _, n := range c.nodes {
		if !n.gone {
			all = append(all, d.seen(n))
		}
	}
	return all
}

func (d directory) Changed() <-chan struct{} {
	d.n.cluster.mu.Lock()
	defer d.n.cluster.mu.Unlock()
	return d.n.cluster.changed
}

// seen returns a node as this node sees it.
func (d directory) seen(n *node) Node {
	other := n.Node
	other.Self = n == d.n
	return other
}

// as adds metadata to a call.
func as(ctx context.Context, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// reasonOf returns the reason of an error.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

func wantCode(t testing.TB, err error, code codes.Code, reason string) {
	t.Helper()
	if status.Code(err) != code || reasonOf(err) != reason {
		t.Errorf("got %v with reason %q, want %v with %q", err, reasonOf(err), code, reason)
	}
}
