package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/stubdns"
)

// limit limits operations that should be immediate.
const limit = 30 * time.Second

// server is an HTTP server with its own address that counts its connections.
type server struct {
	*httptest.Server
	port  string
	conns atomic.Int64
}

func serve(t testing.TB, address string, secure bool, handler http.HandlerFunc) *server {
	t.Helper()
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Server: &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// open starts a proxy and a client that uses it.
func open(t testing.TB, text string, names *stubdns.Server) (*Proxy, *http.Client) {
	t.Helper()
	p, err := netpolicy.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), Config{Policy: p, Resolver: names.Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: g.Address()}), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return g, &http.Client{Transport: transport, Timeout: limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get fetches a URL. For refused tunnels, the status comes from the proxy.
func get(t *testing.T, c *http.Client, address string) (status int, body string, header http.Header) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestOnlyWhatThePolicyAllowsIsConnectedTo(t *testing.T) {
	allowed := serve(t, "127.0.0.2", false, hello)
	refused := serve(t, "127.0.0.3", false, hello)
	secure := serve(t, "127.0.0.2", true, hello)
	names := new(stubdns.Server)
	names.Set("good.example", stubdns.At("127.0.0.2"))
	names.Set("bad.example", stubdns.At("127.0.0.3"))
	names.Set("denied.example", stubdns.At("127.0.0.2"))
	names.Set("named.example", stubdns.At("127.0.0.3"))
	g, c := open(t, "public,allow=127.0.0.2,allow=named.example,deny=denied.example", names)
	for _, one := range []struct {
		url, rule string
		ok        bool
	}{
		{"http://127.0.0.2:" + allowed.port, "", true},
		{"http://good.example:" + allowed.port, "", true},
		{"http://GOOD.example.:" + allowed.port, "", true},
		{"https://good.example:" + secure.port, "", true},
		{"http://named.example:" + refused.port, "", true},
		{"http://127.0.0.3:" + refused.port, "public", false},
		{"http://0x7f.3:" + refused.port, "public", false},
		{"http://[::ffff:127.0.0.3]:" + refused.port, "public", false},
		{"http://bad.example:" + refused.port, "public", false},
		{"https://bad.example:" + refused.port, "public", false},
		{"https://127.0.0.3:" + refused.port, "public", false},
		{"http://denied.example:" + allowed.port, "deny=denied.example", false},
		{"https://denied.example:" + secure.port, "deny=denied.example", false},
		{"http://" + g.Address(), "public", false},
		{"http://localhost:" + refused.port, "public", false},
		{"http://x.localhost:" + refused.port, "public", false},
	} {
		before := allowed.conns.Load() + refused.conns.Load() + secure.conns.Load()
		status, body, header := get(t, c, one.url)
		verdict := g.Verdict(one.url)
		if one.ok {
			if status != 200 || body != "hello" || verdict != nil {
				t.Errorf("%s: %d %q, %v", one.url, status, body, verdict)
			}
			continue
		}
		if strings.HasPrefix(one.url, "http:") && (status != 403 || !strings.Contains(header.Get("Proxy-Status"), "domtap; error=destination_ip_prohibited")) ||
			strings.HasPrefix(one.url, "https:") && !strings.Contains(body, "Forbidden") {
			t.Errorf("%s: %d %q %v", one.url, status, body, header)
		}
		if verdict == nil || verdict.Kind != apierr.Refused || verdict.Detail["rule"] != one.rule || verdict.Detail["host"] == "" {
			t.Errorf("%s: the verdict is %+v, want rule %s", one.url, verdict, one.rule)
		}
		if now := allowed.conns.Load() + refused.conns.Load() + secure.conns.Load(); now != before {
			t.Errorf("%s: a server was connected to", one.url)
		}
	}
}

// A name whose address changes between lookup and use is refused when the new address is dialed.
func TestANameThatChangesItsAddressIsRefused(t *testing.T) {
	good := serve(t, "127.0.0.2", false, hello)
	l, err := net.Listen("tcp", "127.0.0.3:"+good.port)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	names := new(stubdns.Server)
	names.Set("rebind.example", stubdns.At("127.0.0.2"), stubdns.At("127.0.0.3"))
	g, c := open(t, "public,allow=127.0.0.2", names)
	address := "http://rebind.example:" + good.port + "/"
	if status, body, _ := get(t, c, address); status != 200 || body != "hello" {
		t.Fatalf("%d %q", status, body)
	}
	good.CloseClientConnections()
	c.CloseIdleConnections()
	if status, _, _ := get(t, c, address); status != 403 || names.Asked("rebind.example") != 2 {
		t.Errorf("%d after %d look-ups", status, names.Asked("rebind.example"))
	}
	if v := g.Verdict(address); v == nil || !strings.Contains(v.Message, "rebind.example is at 127.0.0.3, which is a loopback address (rule public)") {
		t.Errorf("%v", v)
	}
	names.Set("both.example", stubdns.At("127.0.0.3", "127.0.0.2"))
	if status, _, _ := get(t, c, "http://both.example:"+good.port); status != 200 {
		t.Errorf("of two addresses the one that is allowed is not used: %d", status)
	}
}

func TestNetworkErrorIsNotReportedAsRefusal(t *testing.T) {
	g, c := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	for address, want := range map[string]string{
		"http://" + closed:         "it refused the connection",
		"http://nowhere.example/":  "its name has no address in DNS",
		"https://nowhere.example/": "its name has no address in DNS",
	} {
		status, body, _ := get(t, c, address)
		if status != 502 && !strings.Contains(body, "Bad Gateway") {
			t.Errorf("%s: %d %s", address, status, body)
		}
		if v := g.Verdict(address); v == nil || v.Kind != apierr.Navigation || !strings.Contains(v.Message, want) {
			t.Errorf("%s: %v, want %q", address, v, want)
		}
	}
}

func TestSchemesHoldInTunnelsToo(t *testing.T) {
	plain, secure := serve(t, "127.0.0.2", false, hello), serve(t, "127.0.0.2", true, hello)
	for text, want := range map[string][3]bool{ // for http, for https, and for a tunnel without TLS
		"public,allow=127.0.0.2,schemes=https":      {false, true, false},
		"public,allow=127.0.0.2,schemes=http":       {true, false, true},
		"public,allow=127.0.0.2,schemes=http+https": {true, true, true},
		"public,allow=127.0.0.2,schemes=data":       {false, false, false},
	} {
		g, c := open(t, text, new(stubdns.Server))
		before := plain.conns.Load()
		a, _, _ := get(t, c, "http://127.0.0.2:"+plain.port)
		if !want[0] && plain.conns.Load() != before {
			t.Errorf("%s: the server without TLS was connected to", text)
		}
		b, _, _ := get(t, c, "https://127.0.0.2:"+secure.port)
		conn := dialGate(t, g)
		_, _ = fmt.Fprintf(conn, "CONNECT 127.0.0.2:%s HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", plain.port)
		all, _ := io.ReadAll(conn)
		if got := [3]bool{a == 200, b == 200, strings.Contains(string(all), "hello")}; got != want {
			t.Errorf("%s: got %v, want %v (%q)", text, got, want, all)
		}
	}
}

func dialGate(t testing.TB, g *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", g.Address())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(limit))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// The server receives what the browser sent, and the reverse.
func TestRequestsAndAnswersArePassedOnAsTheyAre(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	got := make(chan string, 1)
	answer := "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a=b\r\nProxy-Status: domtap; error=destination_ip_prohibited\r\nContent-Length: 2\r\n\r\nok"
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		r := bufio.NewReader(conn)
		var head strings.Builder
		for {
			line, err := r.ReadString('\n')
			if head.WriteString(line); err != nil || line == "\r\n" {
				break
			}
		}
		body := make([]byte, 4)
		_, _ = io.ReadFull(r, body)
		got <- head.String() + string(body)
		_, _ = io.WriteString(conn, answer)
	}()
	g, _ := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	conn := dialGate(t, g)
	_, _ = io.WriteString(conn, "POST http://"+l.Addr().String()+"/a|b%2Fc/../d?x=%zz;y HTTP/1.1\r\nHost: "+l.Addr().String()+
		"\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: secret\r\nX-Forwarded-For: 1.2.3.4\r\nUser-Agent: Test\r\nContent-Length: 4\r\nAccept-Encoding: gzip, br\r\n\r\nbody")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	if string(text) != "ok" || len(resp.Header.Values("X-A")) != 2 || resp.Header.Get("Proxy-Status") != "" || resp.Header.Get("Content-Type") != "" || resp.Header.Get("Date") != "" {
		t.Errorf("%q %v", text, resp.Header)
	}
	request := <-got
	if !strings.HasPrefix(request, "POST /a|b%2Fc/../d?x=%zz;y HTTP/1.1\r\nHost: "+l.Addr().String()+"\r\n") || !strings.HasSuffix(request, "\r\n\r\nbody") {
		t.Errorf("%s", request)
	}
	for line, want := range map[string]bool{"X-Forwarded-For: 1.2.3.4": true, "User-Agent: Test": true, "Accept-Encoding: gzip, br": true, "Proxy": false, "Connection": false, "secret": false} {
		if strings.Contains(request, line) != want {
			t.Errorf("%q is in the request: %v\n%s", line, !want, request)
		}
	}
}

// A body of any size is streamed in both directions concurrently.
func TestBodiesAreStreamed(t *testing.T) {
	s := serve(t, "127.0.0.2", false, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		buf := make([]byte, 1)
		for {
			n, err := r.Body.Read(buf)
			_, _ = w.Write(buf[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	})
	_, c := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	body, feed := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.2:"+s.port, body)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = feed.Write([]byte("a")) }()
	resp, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	buf := make([]byte, 1)
	for _, letter := range "abc" {
		if letter != 'a' {
			_, _ = feed.Write([]byte(string(letter)))
		}
		if _, err := io.ReadFull(resp.Body, buf); err != nil || rune(buf[0]) != letter {
			t.Fatalf("%q, %v", buf, err)
		}
	}
	_ = feed.Close()
}

// If a connection breaks during a response, the browser's connection breaks too, so that the browser does not accept a partial page as
// complete.
func TestBrokenAnswerIsNotComplete(t *testing.T) {
	s := serve(t, "127.0.0.2", false, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	_, c := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	resp, err := c.Get("http://127.0.0.2:" + s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q is taken for the whole", text)
	}
}

// If the browser cancels a request, the server sees the cancellation.
func TestCancelReachesTheServer(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, "127.0.0.2", false, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	})
	_, c := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.2:"+s.port, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	select {
	case <-ended:
	case <-time.After(limit):
		t.Error("the server goes on")
	}
}

// Each connection of the browser has its own connections to servers, so that a server that identifies clients by connection does not
// confuse two sessions.
func TestConnectionsAreNotShared(t *testing.T) {
	s := serve(t, "127.0.0.2", false, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	g, _ := open(t, "public,allow=127.0.0.2", new(stubdns.Server))
	var seen []string
	for range 2 {
		conn := dialGate(t, g)
		r := bufio.NewReader(conn)
		for range 2 {
			_, _ = fmt.Fprintf(conn, "GET http://127.0.0.2:%s/ HTTP/1.1\r\nHost: x\r\n\r\n", s.port)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			seen = append(seen, string(text))
		}
	}
	if seen[0] != seen[1] || seen[2] != seen[3] || seen[0] == seen[2] {
		t.Errorf("%q", seen)
	}
}

func TestOnlyProxyRequestsAreAnswered(t *testing.T) {
	g, _ := open(t, "public", new(stubdns.Server))
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                               "400",
		"GET /secret HTTP/1.1\r\nHost: " + g.probeHost() + "\r\n\r\n":     "400",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n":                           "400",
		"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n":                        "400",
		"GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n":                      "400",
		"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n":                           "400",
		"GET http://%31/ HTTP/1.1\r\nHost: x\r\n\r\n":                     "400",
		"GET http://a@127.0.0.1/ HTTP/1.1\r\nHost: 1.1.1.1\r\n\r\n":       "403",
		"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 1.1.1.1:80\r\n\r\n":       "403",
		"CONNECT 2130706433:80 HTTP/1.1\r\nHost: 1.1.1.1:80\r\n\r\n":      "403",
		"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 1.1.1.1\r\nX: y\r\n\r\n": "403",
		"GET " + probeOf(g) + " HTTP/1.1\r\nHost: x\r\n\r\n":              "200",
		"GET http://other.domtap.invalid/ HTTP/1.1\r\nHost: x\r\n\r\n":    "502",
		"CONNECT " + g.probeHost() + ":443 HTTP/1.1\r\nHost: x\r\n\r\n":   "502",
	} {
		conn := dialGate(t, g)
		_, _ = io.WriteString(conn, request)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%q: %q, %v, want %s", request, line, err, want)
		}
	}
}

func probeOf(g *Proxy) string {
	address, _ := g.Probe()
	return address
}

// The proxy never connects to itself, even if the policy allows it.
func TestNoLoop(t *testing.T) {
	g, c := open(t, "public,allow=127.0.0.0/8,allow=localhost", new(stubdns.Server))
	_, port, _ := net.SplitHostPort(g.Address())
	for _, address := range []string{"http://" + g.Address(), "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		if status, _, _ := get(t, c, address); status != 403 {
			t.Errorf("%s: %d", address, status)
		}
	}
}

// Close ends tunnels and requests in progress.
func TestCloseEndsEverything(t *testing.T) {
	begun := make(chan struct{}, 2)
	s := serve(t, "127.0.0.2", false, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		begun <- struct{}{}
		<-r.Context().Done()
	})
	p, err := netpolicy.Parse("public,allow=127.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	first, second := dialGate(t, g), dialGate(t, g)
	_, _ = fmt.Fprintf(first, "GET http://127.0.0.2:%s/ HTTP/1.1\r\nHost: x\r\n\r\n", s.port)
	_, _ = fmt.Fprintf(second, "CONNECT 127.0.0.2:%s HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", s.port)
	<-begun
	<-begun
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, conn := range []net.Conn{first, second} {
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection is still open")
		}
	}
}

func TestRememberedFailuresAreBounded(t *testing.T) {
	var f failures
	for i := range 3 * maxFailures {
		f.note(fmt.Sprint(i), errOwn)
		f.note(fmt.Sprint(i), errOwn)
	}
	if len(f.why) != maxFailures || len(f.order) != maxFailures || f.of("0") != nil || f.of(fmt.Sprint(3*maxFailures-1)) == nil {
		t.Errorf("%d and %d", len(f.why), len(f.order))
	}
}
