package e2e

import (
	"context"
	"embed"
	"net/http"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/harness"
)

//go:embed pages
var pages embed.FS

// serve serves the pages of this package and what handlers add.
func serve(t testing.TB, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	mux.Handle("/pages/", http.FileServerFS(pages))
	return harness.Serve(t, mux)
}

// html serves a page from a string.
func html(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	}
}

// within is the test's context with a deadline.
func within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
