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

// built is the output directory of scripts/install-components.
const built = "../../.cache/components/dist"

// scenario is a file of this directory: a page that uses a library, and the steps on it. Its comment has the lines "Library: name" and
// "Kinds: words", and "Short: yes" if make test runs it. The section app.jsx, or another app.*, is the script, which
// scripts/install-components bundles. Its window.model() returns the state of the library. The section page is the body; without it, the
// body is an empty div with the ID app. The section steps contains the steps.
type scenario struct {
	name, library string
	kinds         []string
	short         bool
	archive       *txtar.Archive
}

// TestComponents performs a task with each library: a third of them, or all in make test-long. The agent knows only the printed answers,
// names elements by their printed text, and uses no selectors. The answers are compared with the state of the library.
func TestComponents(t *testing.T) {
	all := scenarios(t)
	base := testenv.Serve(t, pages(all))
	d := testenv.Shared(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "library\tresult\tcalls\ttokens")
	tab, played := "", 0 // all pages are shown in turn in one tab
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
				if tab = a.player.Tab; t.Failed() { // a broken tab must not affect the next page
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

// TestKindsArePlayed fails if make test covers no library of some kind.
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

// scenarios reads the files of this directory.
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

// section returns the text of a file in the archive.
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
