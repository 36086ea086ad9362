package observer

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/domtap/domtap/internal/browser/launch"
)

var update = flag.Bool("update", false, "write what the scripts answer into js/*.txtar")

// TestScripts runs parts of the page script in a browser, against small documents. The cases of a script are in the archive beside it, whose name
// selects the unit of testdata/units.js, such as names, roles or mutations. A case has up to three files: CASE.html is the document, CASE.js
// contains the steps, separated by lines of "---", and CASE.want is the expected answer.
func TestScripts(t *testing.T) {
	archives, err := filepath.Glob("js/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are the archives %v, %v", archives, err)
	}
	tab := newTab(t)
	for _, file := range archives {
		_, unit, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "-")
		t.Run(unit, func(t *testing.T) { testArchive(t, tab, file, unit) })
	}
}

func testArchive(t *testing.T, tab *tab, file, unit string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var html, steps string
	for i, f := range archive.Files {
		name, kind, _ := strings.Cut(f.Name, ".")
		switch kind {
		case "html":
			html, steps = string(f.Data), ""
		case "js":
			steps = string(f.Data)
		case "want":
			t.Run(name, func(t *testing.T) {
				got := tab.ask(t, unit, html, steps)
				if *update {
					archive.Files[i].Data = []byte(got)
				} else if want := string(f.Data); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		default:
			t.Fatalf("%s: a case has no file %q: name it CASE.html, CASE.js or CASE.want", file, f.Name)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tab shows one document after the other in the browser of the test.
type tab struct {
	ctx    context.Context
	url    string
	html   atomic.Value // string; the server's goroutines read it
	script string
}

func newTab(t *testing.T) *tab {
	if testing.Short() {
		t.Skip("needs a browser, and the tests are short")
	}
	path, err := launch.Find(os.Getenv("DOMTAP_CHROME"), true)
	if err != nil {
		t.Skip(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if launch.SandboxNote() != "" {
		options = append(options, chromedp.NoSandbox)
	}
	units, err := os.ReadFile("testdata/units.js")
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{script: Limits{}.fill(source(t, string(units)), nil)}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, tab.html.Load())
	})
	mux.HandleFunc("/script", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tab.script) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	tab.url = server.URL + "/"
	ctx, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	tab.ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Do(tab.ctx, chromedp.EmulateViewport(800, 600)); err != nil {
		t.Fatal(err)
	}
	return tab
}

// ask shows a document and returns the answer of a unit, one line for each part.
func (t *tab) ask(tt *testing.T, unit, html, steps string) string {
	tt.Helper()
	t.html.Store("<!doctype html>" + html)
	list := []string{}
	if steps != "" {
		list = strings.Split(steps, "---\n")
	}
	argument, err := json.Marshal(list)
	if err != nil {
		tt.Fatal(err)
	}
	if err := chromedp.Do(t.ctx, chromedp.Navigate(t.url)); err != nil {
		tt.Fatal(err)
	}
	// The page fetches the script, because with the race detector it takes long to write it as an argument. Its list of what it loaded takes
	// no entry for that.
	const run = `performance.setResourceTimingBufferSize(performance.getEntriesByType("resource").length)
		fetch("/script").then((r) => r.text()).then((script) => (0, eval)(script + %s))`
	call, err := json.Marshal(fmt.Sprintf("__units.%s(%s)", unit, argument))
	if err != nil {
		tt.Fatal(err)
	}
	answer, err := chromedp.Run(t.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(run, call), chromedp.EvalAwaitPromise))
	if err != nil {
		tt.Fatalf("ask the scripts for %s: %v", unit, err)
	}
	return strings.Join(answer, "\n") + "\n"
}
