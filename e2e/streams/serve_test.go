package streams

import (
	"embed"
	"net/http"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

//go:embed pages
var pages embed.FS

// serve serves the pages of this package and the additional handlers.
func serve(t testing.TB, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	return testenv.PagesWithFiles(t, pages, handlers)
}
