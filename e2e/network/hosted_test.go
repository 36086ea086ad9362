//go:build linux

package network

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// hosted is a service for hosted browsers that requires a key: a TLS server in front of a browser.
type hosted struct {
	*httptest.Server
	browser *url.URL
	// admits reports whether a request contains the key.
	admits func(r *http.Request) bool
	proxy  *httputil.ReverseProxy
	mu     sync.Mutex
	// refused counts the requests without the key.
	refused int
}

// host starts a hosted service.
func host(t *testing.T, admits func(r *http.Request) bool) *hosted {
	t.Helper()
	at, err := url.Parse(strings.Replace(testenv.StartRemote(t, 0).Address, "ws:", "http:", 1))
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{browser: at, admits: admits}
	h.proxy = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: at.Host})
		if r.In.URL.Path == "/connect" {
			r.Out.URL.Path, r.Out.URL.RawQuery = at.Path, ""
		}
	}}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h
}

func (h *hosted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.admits(r) {
		h.mu.Lock()
		h.refused++
		h.mu.Unlock()
		http.Error(w, "the key is "+r.Header.Get("Authorization")+r.URL.RawQuery, http.StatusUnauthorized) // a service that leaks keys
		return
	}
	h.proxy.ServeHTTP(w, r)
}

// address returns the service's address with another scheme.
func (h *hosted) address(scheme string) string { return strings.Replace(h.URL, "https", scheme, 1) }

// program runs domtap with a separate state directory. It trusts the certificate of a service.
type program struct {
	t    *testing.T
	path string
	env  []string
}

func (p *program) run(args ...string) (out string, err error) {
	p.t.Helper()
	cmd := exec.CommandContext(testenv.Within(p.t, testenv.Patience), p.path, args...)
	cmd.Env = p.env
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// TestHostedBrowsers attaches to a real browser behind TLS that requires a key, like services for hosted browsers: in a header from a file
// or the environment, or in the URL. The key must be in no output and no log.
func TestHostedBrowsers(t *testing.T) {
	const key = "canary-key-7351"
	byHeader := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+key }
	byQuery := func(r *http.Request) bool { return r.URL.Query().Get("apiKey") == key }
	path, page := testenv.Program(t), testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML("<title>Hosted</title><button>Go</button>")})
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("Authorization: Bearer "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		admits func(r *http.Request) bool
		remote func(h *hosted) string
		env    []string
		works  bool
	}{
		"header from a file":        {byHeader, func(h *hosted) string { return h.address("wss") + "/connect" }, []string{"DOMTAP_REMOTE_HEADER_FILE=" + file}, true},
		"header from a variable":    {byHeader, func(h *hosted) string { return h.address("wss") + "/connect" }, []string{"DOMTAP_REMOTE_HEADERS=Authorization: Bearer " + key}, true},
		"address that is asked for": {byHeader, func(h *hosted) string { return h.address("https") }, []string{"DOMTAP_REMOTE_HEADER_FILE=" + file}, true},
		"key in the URL":            {byQuery, func(h *hosted) string { return h.address("wss") + "/connect?apiKey=" + key }, nil, true},
		"no key":                    {byHeader, func(h *hosted) string { return h.address("wss") + "/connect" }, nil, false},
		"wrong key in the URL":      {byHeader, func(h *hosted) string { return h.address("wss") + "/connect?apiKey=" + key }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := host(t, c.admits)
			state := t.TempDir()
			var ca bytes.Buffer
			if err := pem.Encode(&ca, &pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}); err != nil {
				t.Fatal(err)
			}
			trusted := filepath.Join(state, "ca.pem")
			if err := os.WriteFile(trusted, ca.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			p := &program{t, path, append([]string{"HOME=" + state, "PATH=" + os.Getenv("PATH"), "SSL_CERT_FILE=" + trusted, "DOMTAP_STATE_DIR=" + state,
				"DOMTAP_REMOTE=" + c.remote(h), "DOMTAP_LOG_LEVEL=debug", "DOMTAP_LISTEN="}, c.env...)}
			opened, err := p.run("open", page)
			defer func() {
				if out, err := p.run("stop"); err != nil && c.works {
					t.Errorf("stop: %v: %s", err, out)
				}
			}()
			if (err == nil) != c.works {
				t.Fatalf("open: %v: %s", err, opened)
			}
			text := opened
			if c.works {
				shown, err := p.run("snapshot")
				if err != nil || !strings.Contains(shown, "Go") {
					t.Errorf("snapshot: %v: %s", err, shown)
				}
				config, err := p.run("config")
				if err != nil || !strings.Contains(config, "remote:") {
					t.Errorf("config: %v: %s", err, config)
				}
				doctor, _ := p.run("doctor")
				text += shown + config + doctor
			}
			for _, log := range []string{"daemon.log", "daemon.log.old"} {
				raw, _ := os.ReadFile(filepath.Join(state, log)) // not every daemon has both logs
				text += string(raw)
			}
			if strings.Contains(text, key) {
				t.Errorf("the key is told:\n%s", text)
			}
			if !c.works && !strings.Contains(text, "attaching to the browser at wss://127.0.0.1") {
				t.Errorf("the failure is not explained:\n%s", text)
			}
		})
	}
}
