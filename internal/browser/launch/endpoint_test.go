package launch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAddressesOfRemoteBrowsers(t *testing.T) {
	key := http.Header{"Authorization": {"Bearer hush-key"}}
	for _, c := range []struct {
		address, socket, name string
		header                http.Header
	}{
		{"ws://127.0.0.1:9222/devtools/browser/x", "ws://127.0.0.1:9222/devtools/browser/x", "ws://127.0.0.1:9222/devtools/browser/x", nil},
		{"wss://a.example?apiKey=hush-key", "wss://a.example?apiKey=hush-key", "wss://a.example?***", nil},
		{"wss://me:hush-key@a.example:9222/x", "wss://a.example:9222/x", "wss://a.example:9222/x", nil},
		{"wss://a.example/x", "wss://a.example/x", "wss://a.example/x", key},
	} {
		r, err := newEndpoint(c.address, c.header)
		if err != nil {
			t.Errorf("%s: %v", c.address, err)
			continue
		}
		if got, err := r.socket(t.Context()); got != c.socket || err != nil || r.name() != c.name {
			t.Errorf("%s: %s, %v, named %s", c.address, got, err, r.name())
		}
		if text := r.hide(errors.New("no: hush-key, Basic bWU6aHVzaC1rZXk=")).Error(); c.name != c.address && strings.Contains(text, "hush") {
			t.Errorf("%s: %s", c.address, text)
		}
	}
	for _, address := range []string{"", "a.example:9222", "ftp://a.example", "ws://me:hush-key@a.example/x", "http://me:hush-key@10.0.0.1:9222"} {
		if _, err := newEndpoint(address, nil); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := newEndpoint("http://a.example:9222", key); err == nil || !strings.Contains(err.Error(), "only with TLS") {
		t.Errorf("a key without TLS: %v", err)
	}
}

func TestTheServerTellsTheSocket(t *testing.T) {
	answer := `{"webSocketDebuggerUrl":"ws://elsewhere.example/devtools/browser/x"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/json/version" || r.Header.Get("X-Key") != "hush" && r.Header.Get("X-Key") != "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	for header, want := range map[string]string{"": "ws://elsewhere.example/devtools/browser/x", "hush": strings.Replace(server.URL, "http", "ws", 1) + "/devtools/browser/x"} {
		r, err := newEndpoint(server.URL, http.Header{})
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			r.header.Set("X-Key", header)
		}
		if got, err := r.socket(t.Context()); got != want || err != nil {
			t.Errorf("with header %q: %s, %v", header, got, err)
		}
	}
	answer = "no"
	for scheme, want := range map[string]string{"http": "", "ws": strings.Replace(server.URL, "http", "ws", 1)} {
		r, err := newEndpoint(strings.Replace(server.URL, "http", scheme, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.socket(t.Context()); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", scheme, got, err)
		}
	}
}
