package urlpolicy

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/stubdns"
	"github.com/domtap/domtap/internal/testenv"
)

// limit is the maximum wait for effects that should occur immediately.
const limit = testenv.Patience

// site is a server that records its requests.
type site struct {
	address, port string
	conns         atomic.Int64
	mu            sync.Mutex
	paths         map[string]bool
	// drop closes the open connections.
	drop func()
}

// serve serves at host:port. Port "0" selects any free port.
func serve(t testing.TB, host, port string, secure bool) *site {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{paths: map[string]bool{}, address: l.Addr().String()}
	_, s.port, _ = net.SplitHostPort(s.address)
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	s.drop = server.CloseClientConnections
	t.Cleanup(func() { s.drop(); server.Close() })
	return s
}

// came reports whether a path was requested.
func (s *site) came(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[path]
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths[r.URL.Path] = true
	s.mu.Unlock()
	to := r.FormValue("url")
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html")
	code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/to/"))
	switch {
	case code != 0:
		http.Redirect(w, r, to, code)
	case r.URL.Path == "/meta":
		_, _ = fmt.Fprintf(w, `<meta http-equiv=refresh content="0;url=%s">`, html.EscapeString(to))
	case r.URL.Path == "/script":
		_, _ = fmt.Fprintf(w, `<script>location = %q</script>`, to)
	case r.URL.Path == "/link":
		_, _ = fmt.Fprintf(w, `<title>Links</title><a href="%s">Go</a><a href="%[1]s" target=_blank>Open</a>`, html.EscapeString(to))
	case r.URL.Path == "/worker.js":
		h.Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(w, `self.onmessage = e => { fetch(e.data, {mode: 'no-cors'}).catch(() => {}) }`)
	case strings.HasSuffix(r.URL.Path, "/download"):
		h.Set("Content-Disposition", "attachment; filename=x.bin")
		_, _ = fmt.Fprint(w, "data")
	default:
		_, _ = fmt.Fprint(w, `<!doctype html><title>Inside</title><body><button>The secret of this server</button>`)
	}
}

// stage is a daemon whose browser uses a gate.
type stage struct {
	*testenv.Daemon
	t     *testing.T
	names *stubdns.Server
	gate  *proxy.Proxy
	// good sites are allowed by the policy, and bad sites are refused. Secure sites use TLS.
	good, bad, goodSecure, badSecure *site
}

// play starts the stage. Host names that begin with good resolve to the good sites, and names that begin with bad to the bad ones.
func play(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		t: t, names: new(stubdns.Server), good: serve(t, "127.0.0.2", "0", false), bad: serve(t, "127.0.0.3", "0", false),
		goodSecure: serve(t, "127.0.0.2", "0", true), badSecure: serve(t, "127.0.0.3", "0", true),
	}
	p, err := netpolicy.Parse("public,allow=127.0.0.2,allow=[::1],deny=denied.test")
	if err != nil {
		t.Fatal(err)
	}
	if s.gate, err = proxy.Open(t.Context(), proxy.Config{Policy: p, Resolver: s.names.Resolver()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.gate.Close() })
	allow := func(url string) error {
		if err := rules.AllowURL(url); err != nil {
			return err
		}
		return s.gate.AllowURL(url)
	}
	s.Daemon = testenv.StartWith(t, tabpool.Config{AllowURL: allow}, server.Config{AllowEval: true}, browser.Config{
		Gate: s.gate, Flags: []string{"ignore-certificate-errors"}})
	for _, name := range []string{"good.test", "denied.test"} {
		s.names.Set(name, stubdns.At("127.0.0.2"))
	}
	s.names.Set("bad.test", stubdns.At("127.0.0.3"))
	return s
}

// eventually waits until a condition is met.
func (s *stage) eventually(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			s.t.Errorf("%s: not within %s", what, limit)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// untouched fails the test if a bad site received a connection.
func (s *stage) untouched(what string) {
	s.t.Helper()
	if n := s.bad.conns.Swap(0) + s.badSecure.conns.Swap(0); n != 0 {
		s.t.Errorf("%s: %d connections to what the policy refuses", what, n)
	}
}

// run runs a script in a tab.
func (s *stage) run(tab, script string) string {
	s.t.Helper()
	r, err := s.Pages.Evaluate(testenv.Within(s.t, limit), &domtapv1.EvaluateRequest{TabId: tab, Expression: script})
	if err != nil || r.GetException() != "" {
		s.t.Fatalf("%v %s", err, r.GetException())
	}
	return r.GetResultJson()
}

// refused fails the test unless an error states that the policy refused a host by a rule.
func (s *stage) refused(what string, err error, host, rule string) {
	s.t.Helper()
	if status.Code(err) != codes.PermissionDenied {
		s.t.Errorf("%s: got %v, want PERMISSION_DENIED", what, err)
		return
	}
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok && i.GetReason() == "URL_POLICY" && i.GetMetadata()["host"] == host && i.GetMetadata()["rule"] == rule {
			return
		}
	}
	s.t.Errorf("%s: the details are %v, want URL_POLICY, host %s and rule %s", what, status.Convert(err).Details(), host, rule)
}
