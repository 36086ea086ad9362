package components

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/txtar"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// built is where scripts/install-components builds the libraries.
const built = "../../.cache/components/dist"

// scenario is a file of this folder: a page that uses a library, and what is done there. Its comment has lines "Library:
// name", "Kinds: words" and, where make test plays it, "Short: yes". The sections are app.jsx or another app.*, which
// scripts/install-components bundles and whose window.model() says the state that the library has; page, which
// is the body, unless it is an empty div with the id app; and the steps.
type scenario struct {
	name, library string
	kinds         []string
	short         bool
	archive       *txtar.Archive
}

// TestComponents does a task with each library: a third of them, or in make test-long all. An agent knows of a page only
// what the answers print, names what it acts on by what stands there, and uses no selector. What the answers say is compared with
// the library's own state.
func TestComponents(t *testing.T) {
	all := scenarios(t)
	base := testenv.Serve(t, pages(all))
	d := testenv.Shared(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "library\tresult\tcalls\ttokens")
	tab, played := "", 0 // all pages are shown in one tab, one after the other
	for _, s := range all {
		if !s.short && !testenv.Long() && os.Getenv("DOMTAP_COMPONENTS") == "" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(built, s.name, "app.js")); err != nil {
				t.Skipf("%s is not built: run scripts/install-components, which needs node and the registry of npm", s.library)
			}
			played++
			a := newAgent(d.For(t), tab)
			defer func() {
				if tab = a.player.Tab; t.Failed() { // another page is not to suffer from what this one did to its tab
					_, _ = d.Tabs.CloseTab(context.WithoutCancel(t.Context()), &domtapv1.CloseTabRequest{TabId: tab})
					tab = ""
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\n", s.library, a.result(t), a.player.Calls, a.player.Tokens)
			}()
			a.play(t, base+"/"+s.name+"/", s.section("steps"))
		})
	}
	_ = w.Flush()
	t.Logf("%d of %d libraries\n%s", played, len(all), table.String())
}

// TestKindsArePlayed fails when make test plays no library of a kind.
func TestKindsArePlayed(t *testing.T) {
	all, short := map[string]bool{}, map[string]bool{}
	for _, s := range scenarios(t) {
		for _, kind := range s.kinds {
			all[kind] = true
			if s.short {
				short[kind] = true
			}
		}
	}
	for kind := range all {
		if !short[kind] {
			t.Errorf("make test plays no library of the kind %q", kind)
		}
	}
	t.Logf("kinds: %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// scenarios reads the files of this folder.
func scenarios(t *testing.T) (all []scenario) {
	t.Helper()
	files, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := scenario{name: strings.TrimSuffix(file, ".txtar"), archive: a}
		for line := range strings.Lines(string(a.Comment)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "Library":
				s.library = value
			case "Kinds":
				s.kinds = strings.Split(value, ", ")
			case "Short":
				s.short = true
			}
		}
		if s.library == "" || len(s.kinds) == 0 || s.section("steps") == "" {
			t.Fatalf("%s: needs a library, kinds and steps", file)
		}
		all = append(all, s)
	}
	return all
}

// section is the text of one of the archive's files.
func (s scenario) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// pages serves each scenario at /NAME/.
func pages(all []scenario) http.Handler {
	mux := http.NewServeMux()
	files := http.FileServerFS(os.DirFS(built))
	mux.Handle("/", files)
	for _, s := range all {
		body := s.section("page")
		if body == "" {
			body = "<div id=app></div>"
		}
		style := ""
		if _, err := os.Stat(filepath.Join(built, s.name, "app.css")); err == nil {
			style = "<link rel=stylesheet href=app.css>"
		}
		mux.HandleFunc("/"+s.name+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><html lang=en><meta charset=utf-8><title>%s</title><link rel=icon href=\"data:,\">%s<script>addEventListener(\"error\", e => window.failure = e.message)</script>%s<script type=module src=app.js></script>",
				s.library, style, body)
		})
	}
	return mux
}
