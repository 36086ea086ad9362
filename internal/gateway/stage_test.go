package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const (
	token = "a-token-for-tests-of-forty-three-characters"
	// limit is the maximum time that a test waits for an event.
	limit = time.Minute
)

// stage is a web server on loopback for the tabs of a fake browser.
type stage struct {
	t       *testing.T
	browser *actortest.Browser
	// url is the URL of the server.
	url string
	// watching receives +1 when a stream starts and -1 when one ends.
	watching chan int
	stop     context.CancelFunc
	served   chan error
	client   *http.Client
}

// settings configure newStage.
type settings struct {
	rpc server.Config
	web gateway.Config
}

func newStage(t *testing.T, with settings) *stage {
	t.Helper()
	st := &stage{t: t, browser: actortest.NewBrowser(), watching: make(chan int, 100), served: make(chan error, 1)}
	pool := tabpool.New(st.browser, tabpool.Config{AllowURL: rules.AllowURL})
	with.rpc.Token, with.rpc.Metrics = token, counter{st.watching}
	server, err := server.New(pool, with.rpc)
	if err != nil {
		t.Fatal(err)
	}
	scheme := "http"
	if with.web.Listener == nil {
		with.web.Listener, err = net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
	} else {
		scheme = "https"
	}
	st.url = scheme + "://" + with.web.Listener.Addr().String()
	front, err := gateway.New(server, with.web)
	if err != nil {
		t.Fatal(err)
	}
	server.AddFront(front)
	ctx, stop := context.WithCancel(t.Context())
	st.stop = stop
	go func() { st.served <- server.Serve(ctx, &unix{bufconn.Listen(1 << 10)}) }()
	st.client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		st.client.CloseIdleConnections()
		stop()
		if err := <-st.served; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return st
}

// unix is a listener that the gRPC server needs; the tests make no calls there.
type unix struct{ *bufconn.Listener }

// Addr returns a unix address, because unix sockets need no token.
func (unix) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "s"} }

// counter reports the start and end of streams.
type counter struct{ watching chan int }

// Unary counts nothing.
func (counter) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		return next(ctx, r)
	}
}

// Stream counts nothing.
func (counter) Stream() grpc.StreamServerInterceptor {
	return func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(srv, s)
	}
}
func (c counter) Watching(by int)       { c.watching <- by }
func (counter) Sent(time.Duration, int) {}
func (counter) Resynced(string)         {}
func (counter) Refused(string)          {}

// expectWatching waits for a stream to begin (+1) or to end (-1).
func (st *stage) expectWatching(want int) {
	st.t.Helper()
	select {
	case got := <-st.watching:
		if got != want {
			st.t.Fatalf("streams changed by %+d, want %+d", got, want)
		}
	case <-time.After(limit):
		st.t.Fatalf("no stream began or ended (%+d)", want)
	}
}

// shop opens a tab with a page of buttons.
func (st *stage) shop(names ...string) (id string, page *actortest.Page) {
	st.t.Helper()
	st.browser.Serve("https://shop.example/", func() actortest.Screen {
		s := actortest.Screen{Title: "Shop"}
		for _, name := range names {
			s.Body = append(s.Body, actortest.Button(name))
		}
		return s
	})
	answer := st.post("TabService/OpenTab", `{"url": "https://shop.example/"}`)
	if answer.status != http.StatusOK {
		st.t.Fatalf("OpenTab: %+v", answer)
	}
	var opened struct{ Tab struct{ ID string } }
	if err := json.Unmarshal(answer.body, &opened); err != nil {
		st.t.Fatal(err)
	}
	return opened.Tab.ID, st.browser.Page(0)
}

// answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// String formats the answer for test messages.
func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// failure is an error in the form of the Connect protocol.
type failure struct {
	Code, Message string
	Details       []struct {
		Type  string
		Debug json.RawMessage
	}
}

func (a answer) failure(t *testing.T) failure {
	t.Helper()
	var f failure
	if err := json.Unmarshal(a.body, &f); err != nil {
		t.Fatalf("%v: %v", a, err)
	}
	return f
}

// post calls a method as curl does.
func (st *stage) post(method, body string, change ...func(*http.Request)) answer {
	st.t.Helper()
	r := st.request(st.t.Context(), method, body)
	for _, c := range change {
		c(r)
	}
	resp, err := st.client.Do(r)
	if err != nil {
		st.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, text}
}

func (st *stage) request(ctx context.Context, method, body string) *http.Request {
	st.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, st.url+"/domtap.v1."+method, strings.NewReader(body))
	if err != nil {
		st.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// with returns a function that sets or removes a header of a request.
func with(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
}

// bearing is a transport that adds the token to requests.
type bearing struct{ http.RoundTripper }

// RoundTrip adds the token.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// watch creates a client of WatchDom, and calls it.
func (st *stage) watch(ctx context.Context, r *domtapv1.WatchDomRequest, options ...connect.ClientOption) *connect.ServerStreamForClient[domtapv1.WatchDomResponse] {
	st.t.Helper()
	client := &http.Client{Transport: bearing{st.client.Transport}}
	stream, err := connect.NewClient[domtapv1.WatchDomRequest, domtapv1.WatchDomResponse](
		client, st.url+"/domtap.v1.DomService/WatchDom", options...).CallServerStream(ctx, connect.NewRequest(r))
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// next receives a message.
func next(t *testing.T, s *connect.ServerStreamForClient[domtapv1.WatchDomResponse]) *domtapv1.WatchDomResponse {
	t.Helper()
	if !s.Receive() {
		t.Fatalf("the stream ended with %v", s.Err())
	}
	return s.Msg()
}

// add appends a button to the page.
func add(page *actortest.Page, text string) {
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(text)) })
}

// frame is one message of a stream, as JSON: five bytes and the message.
func frame(body string) string {
	return string([]byte{0, 0, 0, byte(len(body) >> 8), byte(len(body))}) + body
}

// unframe reads one message of a stream. end reports whether it is the last one.
func unframe(t *testing.T, r io.Reader) (message []byte, end bool) {
	t.Helper()
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatal(err)
	}
	size := int(head[1])<<24 | int(head[2])<<16 | int(head[3])<<8 | int(head[4])
	message = make([]byte, size)
	if _, err := io.ReadFull(r, message); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(message), head[0]&2 != 0
}
