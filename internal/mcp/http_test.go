package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const testToken = "a-token-for-tests-of-forty-three-characters"

const pingRequest = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestMCPOverHTTPNeedsATokenAndAnOwnOrigin(t *testing.T) {
	passed := false
	handler := (&Server{}).admit(testToken, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
	for name, one := range map[string]struct {
		host, origin, authorization string
		want                        int
	}{
		"with the token":                   {"127.0.0.1:7412", "", "Bearer " + testToken, 200},
		"by another name of this machine":  {"localhost:7412", "", "Bearer " + testToken, 200},
		"over IPv6":                        {"[::1]:7412", "", "Bearer " + testToken, 200},
		"a page of this server":            {"127.0.0.1:7412", "http://127.0.0.1:7412", "Bearer " + testToken, 200},
		"without a token":                  {"127.0.0.1:7412", "", "", 401},
		"with another token":               {"127.0.0.1:7412", "", "Bearer wrong", 401},
		"with half of the token":           {"127.0.0.1:7412", "", "Bearer " + testToken[:20], 401},
		"the token in another scheme":      {"127.0.0.1:7412", "", "Basic " + testToken, 401},
		"a name that leads here":           {"evil.example:7412", "", "Bearer " + testToken, 403},
		"a name like that of this machine": {"localhost.evil.example", "", "Bearer " + testToken, 403},
		"another machine":                  {"192.0.2.7:7412", "", "Bearer " + testToken, 403},
		"a page from elsewhere":            {"127.0.0.1:7412", "https://evil.example", "Bearer " + testToken, 403},
		"a page of another port":           {"127.0.0.1:7412", "http://127.0.0.1:80", "Bearer " + testToken, 403},
		"a page without an origin":         {"127.0.0.1:7412", "null", "Bearer " + testToken, 403},
	} {
		passed = false
		r := httptest.NewRequest(http.MethodPost, "http://"+one.host+Path, strings.NewReader(pingRequest))
		if one.origin != "" {
			r.Header.Set("Origin", one.origin)
		}
		if one.authorization != "" {
			r.Header.Set("Authorization", one.authorization)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != one.want || passed != (one.want == 200) {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, one.want)
		}
		if one.want == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: a refusal that does not say how to come in", name)
		}
	}
}

func TestCallsWithoutTokenAreRefused(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+Path, nil)
	r.Header.Set("Authorization", "Bearer ")
	w := httptest.NewRecorder()
	(&Server{}).admit("", http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("%d, want 401", w.Code)
	}
}

// bearing sends the token with every request.
type bearing struct{}

func (bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testToken)
	return http.DefaultTransport.RoundTrip(r)
}

func TestSessionsOverHTTP(t *testing.T) {
	b := newBench(t, Options{})
	site := httptest.NewServer(b.server.Handler(testToken))
	over := func() *host {
		h := &host{t: t}
		h.connect(&mcp.StreamableClientTransport{Endpoint: site.URL + Path, HTTPClient: &http.Client{Transport: bearing{}}})
		return h
	}
	one, two := over(), over()
	wantAll(t, one.do("browser_navigate", object{"url": shopURL}), "# tab t1\n", "Pay (button)")
	wantAll(t, two.do("browser_navigate", object{"url": shopURL}), "# tab t2\n", "Pay (button)")
	wantAll(t, one.do("browser_tab", object{"action": "list"}), "# current: t1\n", "t1 ", "t2 ")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	b.close()
	site.Close()
	if n := len(b.pool.Tabs()); n != 0 {
		t.Errorf("%d tabs are open after the sessions ended", n)
	}
}
