package streams

import (
	"embed"
	"net/http"
	"testing"

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
