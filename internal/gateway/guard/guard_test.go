package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAllowedRequests(t *testing.T) {
	type headers map[string]string
	for _, c := range []struct {
		name   string
		cfg    Config
		method string
		host   string
		with   headers
		want   bool
	}{
		{"a program", Config{}, "POST", "127.0.0.1:1", nil, true},
		{"by name", Config{}, "POST", "LOCALHOST:1", nil, true},
		{"by IPv6", Config{}, "POST", "[::1]:1", nil, true},
		{"by another address of this machine", Config{}, "GET", "192.0.2.1:1", nil, true},
		{"that, where loopback alone is meant", Config{Loopback: true}, "GET", "192.0.2.1:1", nil, false},
		{"a name that was made to lead here", Config{}, "GET", "rebound.example:1", nil, false},
		{"a name that begins like ours", Config{}, "GET", "127.0.0.1.rebound.example", nil, false},
		{"a name that was configured", Config{Hosts: []string{"Desk.example"}}, "GET", "desk.example:1", nil, true},
		{"a name nobody configured, where any will do", Config{AnyName: true}, "GET", "desk.example:1", nil, true},
		{"no name", Config{}, "GET", "", nil, false},
		{"our page", Config{}, "POST", "127.0.0.1:1", headers{"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, true},
		{"a page elsewhere", Config{}, "POST", "127.0.0.1:1", headers{"Origin": "http://evil.example"}, false},
		{"a page of another port", Config{}, "POST", "127.0.0.1:1", headers{"Origin": "http://127.0.0.1:2"}, false},
		{"a sandboxed page", Config{}, "POST", "127.0.0.1:1", headers{"Origin": "null"}, false},
		{"a page that may", Config{Origins: []string{"https://app.example"}}, "POST", "127.0.0.1:1", headers{"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}, true},
		{"an image", Config{}, "GET", "127.0.0.1:1", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, false},
		{"a frame", Config{}, "GET", "127.0.0.1:1", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, false},
		{"a form", Config{}, "POST", "127.0.0.1:1", headers{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a link", Config{}, "GET", "127.0.0.1:1", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, true},
		{"a link to where there are no pages", Config{NoPages: true}, "GET", "127.0.0.1:1", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
	} {
		g, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		passed := false
		r := httptest.NewRequest(c.method, "http://x/", nil)
		r.Host = c.host
		for name, value := range c.with {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).ServeHTTP(w, r)
		if passed != c.want || !c.want && w.Code != http.StatusForbidden {
			t.Errorf("%s: passed %v with %d, want %v", c.name, passed, w.Code, c.want)
		}
	}
}
