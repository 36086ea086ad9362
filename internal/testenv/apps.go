package testenv

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findRoot returns the root of the module that contains the test.
func findRoot() string {
	root := ".."
	for range 4 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	return root
}

// Apps serves the single-page applications of e2e/apps. Each is at /NAME, or at /NAME?beside=1 together with the markup in beside. If the
// applications are not built on this machine, the test is skipped. scripts/install-apps builds them.
func Apps(t testing.TB, beside string) http.Handler {
	t.Helper()
	bundles := filepath.Join(findRoot(), ".cache/apps/dist") // the output directory of scripts/install-apps
	scripts, err := filepath.Glob(filepath.Join(bundles, "*.js"))
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) == 0 {
		t.Skip("the applications of e2e/apps are not built: run scripts/install-apps")
	}
	mux := http.NewServeMux()
	mux.Handle("/bundles/", http.StripPrefix("/bundles/", http.FileServerFS(os.DirFS(bundles))))
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".js")
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><html lang=en><meta charset=utf-8><title>%s</title><link rel=icon href="data:,">`, name)
			if _, err := os.Stat(filepath.Join(bundles, name+".css")); err == nil {
				fmt.Fprintf(w, `<link rel=stylesheet href="/bundles/%s.css">`, name)
			}
			fmt.Fprintf(w, `<div id=app></div><script type=module src="/bundles/%s.js"></script>`, name)
			if r.FormValue("beside") != "" {
				fmt.Fprint(w, beside)
			}
		})
	}
	return mux
}
