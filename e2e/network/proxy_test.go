package network

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// forward is an HTTP proxy that requires a user name and password.
type forward struct {
	url, want string
	mu        sync.Mutex
	// passed and refused list the hosts, prefixed with "tunnel " for CONNECT.
	passed, refused []string
}

func startProxy(t *testing.T, user, password string) *forward {
	t.Helper()
	p := &forward{want: "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	p.url = testenv.Serve(t, p)
	return p
}

func (p *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.URL.Path
	if r.Method == http.MethodConnect {
		what = "tunnel"
	}
	p.mu.Lock()
	ok := r.Header.Get("Proxy-Authorization") == p.want
	if ok {
		p.passed = append(p.passed, what)
	} else {
		p.refused = append(p.refused, what)
	}
	p.mu.Unlock()
	switch {
	case !ok:
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	default:
		r.Header.Del("Proxy-Authorization")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}
}

func (p *forward) tunnel(w http.ResponseWriter, r *http.Request) {
	var dialer net.Dialer
	to, err := dialer.DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	from, read, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = to.Close()
		return
	}
	// The server may have read the first byte of the data that follows.
	go func() { _, _ = io.Copy(to, read); _ = to.Close() }()
	_, _ = io.Copy(from, to)
	_ = from.Close()
}

// counts returns how many requests passed and were refused.
func (p *forward) counts() (passed, refused int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.passed), len(p.refused)
}

// through reports whether a host passed.
func (p *forward) through(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.passed, " "), what)
}

// TestASessionHasAProxyOfItsOwn opens pages in sessions with a proxy that requires a password, over http and https and in workers. Other
// sessions must not use the proxy.
func TestASessionHasAProxyOfItsOwn(t *testing.T) {
	const password = "canary-password-4711"
	p := startProxy(t, "ada", password)
	secure := httptest.NewTLSServer(testenv.HTML("<title>Secure</title>"))
	t.Cleanup(secure.Close)
	var log strings.Builder
	var logMu sync.Mutex
	d := testenv.StartWith(t, tabpool.Config{}, server.Config{AllowEval: true}, browser.Config{Flags: []string{"ignore-certificate-errors"},
		Logger: slog.New(slog.NewTextHandler(lockedWriter{&logMu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	s := &stage{d, start(t), t}
	with := func(id, user, password string, bypass ...string) (*domtapv1.Session, error) {
		made, err := s.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: id, Settings: &domtapv1.SessionSettings{
			Proxy: &domtapv1.Proxy{Server: p.url, Username: user, Password: password, Bypass: bypass}}})
		return made.GetSession(), err
	}
	made, err := with("work", "ada", password)
	if err != nil || made.GetSettings().GetProxy().GetPassword() != "" || made.GetSettings().GetProxy().GetUsername() != "ada" {
		t.Fatalf("got %v, %v", made, err)
	}
	tab := s.open("work", s.url+"/")
	if passed, _ := p.counts(); passed == 0 {
		t.Error("the page did not come through the proxy")
	}
	if got := s.run(tab, fetch("/api", "{}")); !strings.HasPrefix(got, "server") || !p.through("/api") {
		t.Errorf("got %q", got)
	}
	if got := s.run(tab, strings.ReplaceAll(places["service worker"], "URL", `'/from-worker'`)); !strings.HasPrefix(got, "server") || !p.through("/from-worker") {
		t.Errorf("a service worker: %q", got)
	}
	s.open("work", secure.URL)
	if !p.through("tunnel") {
		t.Error("the secure page did not come through the proxy")
	}
	before, _ := p.counts()
	s.open("", s.url+"/")
	if after, _ := p.counts(); after != before {
		t.Error("another session goes through the proxy")
	}
	if _, err := with("around", "ada", password, "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	s.open("around", s.url+"/")
	if after, _ := p.counts(); after != before {
		t.Error("a host to bypass goes through the proxy")
	}
	if _, err := with("wrong", "ada", "byron"); err != nil {
		t.Fatal(err)
	}
	_, refused := p.counts()
	came := s.came("/")
	if got, err := s.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: "wrong", Url: s.url + "/"}); err == nil && got.GetTab().GetTitle() == "Home" || s.came("/") > came {
		t.Errorf("with a wrong password: %v", got)
	}
	if _, after := p.counts(); after-refused > 4 {
		t.Errorf("a wrong password was tried %d times", after-refused)
	}
	list, err := s.Sessions.ListSessions(t.Context(), new(domtapv1.ListSessionsRequest))
	logMu.Lock()
	defer logMu.Unlock()
	if text := fmt.Sprint(list, err, log.String()); strings.Contains(text, password) || strings.Contains(text, p.want) {
		t.Errorf("the password is told: %s", text)
	}
}

// lockedWriter is a log that can be read concurrently.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// TestTheProxyOfASessionStays changes other settings and kills the browser. The session must keep the proxy and its password.
func TestTheProxyOfASessionStays(t *testing.T) {
	p := startProxy(t, "ada", "lovelace")
	d := testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: make([]browser.Config, 1), RPC: server.Config{AllowEval: true}})
	s := &stage{d.Daemon, start(t), t}
	has := &domtapv1.Proxy{Server: p.url, Username: "ada", Password: "lovelace"}
	s.session("work", &domtapv1.SessionSettings{Proxy: has})
	for name, c := range map[string]struct {
		proxy *domtapv1.Proxy
		code  codes.Code
	}{
		"none": {nil, codes.OK}, "the same": {has, codes.OK}, "as it is listed": {&domtapv1.Proxy{Server: p.url, Username: "ada"}, codes.OK},
		"another": {&domtapv1.Proxy{Server: "http://127.0.0.1:1"}, codes.InvalidArgument}, "another password": {&domtapv1.Proxy{Server: p.url, Username: "ada", Password: "x"}, codes.InvalidArgument},
	} {
		_, err := s.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{SessionId: "work", Settings: &domtapv1.SessionSettings{Proxy: c.proxy, DenyDownloads: true}})
		if !isCode(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	opened, err := s.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: "work", Url: s.url + "/", Restore: true})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := p.counts()
	d.Newest(0).Kill()
	testenv.Await(t, "the tab to come back through the proxy", func() bool {
		got, err := s.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: opened.GetTab().GetId()})
		after, _ := p.counts()
		return err == nil && got.GetTab().GetStatus() == domtapv1.TabStatus_TAB_STATUS_READY && after > before
	})
}

// TestProxiesThatAreRefused tests invalid proxies, and proxies in the presence of a URL policy.
func TestProxiesThatAreRefused(t *testing.T) {
	s := play(t)
	for want, p := range map[string]*domtapv1.Proxy{
		"settings.proxy.server: must be the URL": {Server: "proxy.example.com:3128"},
		"without user and path":                  {Server: "http://u:p@proxy.example.com"},
		"must begin with http":                   {Server: "ftp://proxy.example.com"},
		"settings.proxy.username: must be empty": {Server: "socks5://proxy.example.com", Username: "a"},
		"is required with a password":            {Server: "http://proxy.example.com", Password: "a"},
		"settings.proxy.bypass[0]":               {Server: "http://proxy.example.com", Bypass: []string{"a;b"}},
	} {
		_, err := s.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Proxy: p}})
		if !isCode(err, codes.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	policy, err := netpolicy.Parse("public")
	if err != nil {
		t.Fatal(err)
	}
	gate, err := proxy.Open(t.Context(), proxy.Config{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gate.Close() })
	d := testenv.StartWith(t, tabpool.Config{}, server.Config{}, browser.Config{Gate: gate})
	_, err = d.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: "work", Settings: &domtapv1.SessionSettings{Proxy: &domtapv1.Proxy{Server: "http://proxy.example.com"}}})
	if !isCode(err, codes.PermissionDenied) || testenv.Reason(err) != "URL_POLICY" {
		t.Errorf("with a policy: %v", err)
	}
}
