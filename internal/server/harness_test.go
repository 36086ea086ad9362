package server

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	testToken = "a-token-for-tests-of-forty-three-characters"
	shopURL   = "https://shop.example/"
)

// bench is a server with a fake browser, and a client of it.
type bench struct {
	t       *testing.T
	browser *actortest.Browser
	pool    *tabpool.Pool
	server  *Server
	conn    *grpc.ClientConn
	memory  *bufconn.Listener
	stop    context.CancelFunc
	served  chan error

	tabs     domtapv1.TabServiceClient
	dom      domtapv1.DomServiceClient
	act      domtapv1.ActionServiceClient
	pages    domtapv1.PageServiceClient
	texts    domtapv1.ContextServiceClient
	sessions domtapv1.SessionServiceClient
	stats    domtapv1.StatsServiceClient
}

// inBubble runs a test with its own server in fake time. The bubble fails the test if a goroutine of the server, the client or an actor is
// left at the end.
func inBubble(t *testing.T, cfg Config, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, cfg)
		defer b.close()
		test(t, b)
	})
}

// pipe is an in-memory listener whose connections look like unix sockets or like TCP.
type pipe struct {
	*bufconn.Listener
	network string
}

func (p pipe) Addr() net.Addr { return pipeAddr(p.network) }

func (p pipe) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return pipeConn{conn, p.network}, nil
}

type pipeConn struct {
	net.Conn
	network string
}

func (c pipeConn) RemoteAddr() net.Addr { return pipeAddr(c.network) }

type pipeAddr string

func (a pipeAddr) Network() string { return string(a) }
func (a pipeAddr) String() string  { return "pipe" }

func newBench(t *testing.T, cfg Config) *bench {
	t.Helper()
	return newBenchOn(t, cfg, "unix")
}

func newBenchOn(t *testing.T, cfg Config, network string) *bench {
	t.Helper()
	return newBenchWith(t, cfg, network, tabpool.Config{})
}

func newBenchWith(t *testing.T, cfg Config, network string, tabs tabpool.Config) *bench {
	t.Helper()
	tabs.AllowURL = rules.AllowURL
	b := &bench{t: t, browser: actortest.NewBrowser(), served: make(chan error, 1)}
	b.pool = tabpool.New(b.browser, tabs)
	cfg.Sessions = sessions.New(b.pool, b.browser, sessions.Config{Max: 5})
	server, err := New(b.pool, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.server = server
	listener := pipe{bufconn.Listen(1 << 16), network}
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	go func() { b.served <- server.Serve(ctx, listener) }()
	b.memory = listener.Listener
	b.conn = b.redial()
	b.tabs = domtapv1.NewTabServiceClient(b.conn)
	b.dom = domtapv1.NewDomServiceClient(b.conn)
	b.act = domtapv1.NewActionServiceClient(b.conn)
	b.pages = domtapv1.NewPageServiceClient(b.conn)
	b.texts = domtapv1.NewContextServiceClient(b.conn)
	b.sessions = domtapv1.NewSessionServiceClient(b.conn)
	b.stats = domtapv1.NewStatsServiceClient(b.conn)
	return b
}

// redial opens another connection.
func (b *bench) redial() *grpc.ClientConn {
	b.t.Helper()
	return dial(b.t, b.memory)
}

func dial(t *testing.T, listener *bufconn.Listener, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append(options,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient("passthrough:///pipe", options...)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// close stops the server and checks that it returned no error.
func (b *bench) close() {
	b.t.Helper()
	b.stop()
	if err := <-b.served; err != nil {
		b.t.Errorf("Serve ended with %v", err)
	}
	b.conn.Close()
	for n := 0; b.browser.Page(n) != nil; n++ {
		for _, fault := range b.browser.Page(n).Faults() {
			b.t.Errorf("page %d: %s", n, fault)
		}
	}
}

// shop serves a page with these nodes and opens a tab on it.
func (b *bench) shop(nodes ...*actortest.Node) (*domtapv1.Tab, *actortest.Page) {
	b.t.Helper()
	b.browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Title: "Shop", Body: nodes} })
	return b.open(shopURL)
}

func (b *bench) open(url string) (*domtapv1.Tab, *actortest.Page) {
	b.t.Helper()
	n := 0
	for b.browser.Page(n) != nil {
		n++
	}
	resp, err := b.tabs.OpenTab(b.t.Context(), &domtapv1.OpenTabRequest{Url: url})
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.GetTab(), b.browser.Page(n)
}

func (b *bench) getDom(r *domtapv1.GetDomRequest) *domtapv1.GetDomResponse {
	b.t.Helper()
	resp, err := b.dom.GetDom(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// wantCode fails unless err has the code, and the reason if one is given.
func wantCode(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("got %v, want code %v", err, code)
		return
	}
	if got := detailReason(err); reason != "" && got != reason {
		t.Errorf("got reason %q (%v), want %q", got, err, reason)
	}
}

func detailReason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok {
			if i.GetDomain() != rpcstatus.Domain {
				return "domain " + i.GetDomain()
			}
			return i.GetReason()
		}
	}
	return ""
}

func violatedFields(err error) []string {
	var fields []string
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	return fields
}

// stream is a WatchDom stream that a test reads.
type stream struct {
	t      *testing.T
	client domtapv1.DomService_WatchDomClient
	cancel context.CancelFunc
	// state is the result of applying the messages so far.
	state []*domtapv1.Element
	last  *domtapv1.WatchDomResponse
}

func (b *bench) watch(r *domtapv1.WatchDomRequest) *stream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	client, err := b.dom.WatchDom(ctx, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return &stream{t: b.t, client: client, cancel: cancel}
}

// next reads a message and checks invariants of every message.
func (s *stream) next() *domtapv1.WatchDomResponse {
	s.t.Helper()
	m, err := s.client.Recv()
	if err != nil {
		s.t.Fatalf("the stream ended with %v", err)
	}
	if want := s.last.GetSequence() + 1; m.GetSequence() != want {
		s.t.Errorf("sequence %d, want %d", m.GetSequence(), want)
	}
	if d := m.GetDiff(); d != nil {
		if s.last != nil && d.GetFromRevision() != s.last.GetRevision() {
			s.t.Errorf("a diff from revision %d follows a message at %d", d.GetFromRevision(), s.last.GetRevision())
		}
		if d.GetToRevision() != m.GetRevision() || d.GetToRevision() <= d.GetFromRevision() {
			s.t.Errorf("a diff from %d to %d in a message at %d", d.GetFromRevision(), d.GetToRevision(), m.GetRevision())
		}
		state, err := client.Apply(s.state, d)
		if err != nil {
			s.t.Fatal(err)
		}
		s.state = state
	}
	if snapshot := m.GetSnapshot(); snapshot != nil {
		s.state = snapshot.GetElements()
	}
	if snapshot := m.GetResync().GetSnapshot(); snapshot != nil {
		s.state = snapshot.GetElements()
	}
	s.last = m
	return m
}

// end reads until the stream ends. It returns nil if the stream ended with OK.
func (s *stream) end() error {
	s.t.Helper()
	m, err := s.client.Recv()
	if err == nil {
		s.t.Fatalf("the stream goes on with %v", m)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// texts lists the texts of elements, by which tests identify them.
func texts(elements []*domtapv1.Element) []string {
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = e.GetText()
	}
	return out
}

func seconds(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Second) }

// registered maps the names of services to their handlers.
type registered map[string]any

// RegisterService adds a service.
func (r registered) RegisterService(desc *grpc.ServiceDesc, service any) {
	r[desc.ServiceName] = service
}

// service returns the handlers of a service, for calls without interceptors.
func service[S any](s *Server, name string) S {
	all := registered{}
	s.Register(all)
	return all[name].(S)
}

func domServiceOf(s *Server) domtapv1.DomServiceServer {
	return service[domtapv1.DomServiceServer](s, domtapv1.DomService_ServiceDesc.ServiceName)
}

// checkRequest returns the status of an invalid request.
func checkRequest(m proto.Message) error { return rpcstatus.From(requestRules.Check(m)) }
