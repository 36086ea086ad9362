package profiling

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/gateway/guard"
)

func TestProfilesAreForTheOperatorAlone(t *testing.T) {
	const token = "the-token-of-the-operator"
	wall, err := guard.New(guard.Config{Loopback: true, NoPages: true})
	if err != nil {
		t.Fatal(err)
	}
	h := wall.Wrap(Handler(token))
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"the token":    {func(*http.Request) {}, http.StatusOK},
		"an IP":        {func(r *http.Request) { r.Host = "[::1]:6060" }, http.StatusOK},
		"no token":     {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"another":      {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, http.StatusUnauthorized},
		"bare":         {func(r *http.Request) { r.Header.Set("Authorization", token) }, http.StatusUnauthorized},
		"a page":       {func(r *http.Request) { r.Header.Set("Origin", "http://localhost:5173") }, http.StatusForbidden},
		"rebound":      {func(r *http.Request) { r.Host = "evil.example:6060" }, http.StatusForbidden},
		"another path": {func(r *http.Request) { r.URL.Path = "/" }, http.StatusNotFound},
		"a change":     {func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:6060/debug/pprof/goroutine?debug=1", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		c.change(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || c.want == http.StatusOK && !strings.Contains(w.Body.String(), "goroutine profile") {
			t.Errorf("%s: status %d, want %d: %.100s", name, w.Code, c.want, w.Body)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/debug/pprof/", nil)
	r.Header.Set("Authorization", "Bearer ")
	w := httptest.NewRecorder()
	if Handler("").ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("without any token: %d", w.Code)
	}
}

func TestProfilesAreServedOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "nonsense"} {
		if l, err := Listen(t.Context(), address); err == nil {
			_ = l.Close()
			t.Errorf("listening on %s", address)
		}
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}
