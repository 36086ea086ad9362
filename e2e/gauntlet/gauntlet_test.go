package gauntlet

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/testenv/script"
	"github.com/domtap/domtap/internal/tokens"
)

// TestGauntlet solves small pages as an agent does. It knows only the output of GetCompact, names elements by the refs in it, and uses no
// selectors. A page is solved when its title says so. A page on which a wrong element was hit permanently reports that. A file of the
// gauntlet has a comment, pages (sections named after their path, available both at http://site.example and at http://other.example), and
// the steps of package script, one per line.
//
// A NAME in a step is the "TEXT" in the line of an element. It is followed by #2 to select the second element with that text, and preceded
// by a tag to distinguish elements: button "Save".
func TestGauntlet(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d pages, want 60 at least: %v", len(files), err)
	}
	site, d := gauntlet(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "page\tsolved\tcalls\ttokens")
	var weighed weights
	played := 0
	tab := "" // all pages are shown in it in turn
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		r := newRunner(d, tab, &weighed)
		ok := t.Run(name, func(t *testing.T) {
			played++
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			site.archive = a
			r.T = t
			r.solve(section(a, "steps"))
		})
		if tab = r.first; !ok && tab != "" { // a broken tab must not affect the next page
			_, _ = d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab})
			tab = ""
		}
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\n", name, ok, r.Calls, r.Tokens)
	}
	_ = w.Flush()
	t.Logf("\n%s%d diffs cost %d tokens, and their pages %d", table.String(), weighed.diffs, weighed.tokens, weighed.pages)
	if played > 20 && weighed.diffs < played/2 {
		t.Errorf("only %d diffs were weighed", weighed.diffs)
	}
}

// gauntlet starts a daemon and the site with the pages.
func gauntlet(t *testing.T) (*gauntletSite, *testenv.Daemon) {
	site := &gauntletSite{}
	base, err := url.Parse(testenv.Serve(t, site))
	if err != nil {
		t.Fatal(err)
	}
	return site, testenv.StartDaemon(t, "site-per-process", "disable-features=HttpsUpgrades",
		fmt.Sprintf("host-resolver-rules=MAP site.example:80 %s, MAP other.example:80 %[1]s, MAP * ~NOTFOUND", base.Host))
}

// gauntletSite serves the pages of the current archive.
type gauntletSite struct{ archive *txtar.Archive }

// judge is the beginning of every page of the gauntlet.
const judge = `<!doctype html><html lang=en><meta charset=utf-8><title>Gauntlet</title><link rel=icon href="data:,"><script>
let failed = false;
function solved() { if (!failed) document.title = "Solved" }
function wrong(what) { failed = true; document.title = "Wrong: " + what }
</script>`

func (s *gauntletSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := section(s.archive, r.URL.Path)
	if page == "" {
		http.NotFound(w, r)
		return
	}
	testenv.HTML(judge+page)(w, r)
}

// runner solves one page.
type runner struct {
	script.Player
	first   string // the tab of the page
	weighed *weights
	witness func(tab string) // called whenever the agent read a tab or acted on it; may be nil
}

// newRunner returns a runner that shows the pages in tab or, if that is empty, in a new one.
func newRunner(d *testenv.Daemon, tab string, weighed *weights) *runner {
	r := &runner{Player: script.Player{Daemon: d, Tab: tab}, weighed: weighed}
	r.Find, r.Acted = r.target, func(got *domtapv1.InteractResponse) {
		r.weigh(got)
		r.looked()
	}
	return r
}

// weights compares the cost of diffs with the cost of the pages they are about.
type weights struct{ diffs, tokens, pages int }

func (r *runner) solve(script string) {
	r.first = r.Daemon.For(r.T).Show(r.Tab, "http://site.example/")
	r.Tab = r.first
	r.Calls++
	defer func() {
		if r.Popup != "" {
			_, _ = r.Daemon.Tabs.CloseTab(r.T.Context(), &domtapv1.CloseTabRequest{TabId: r.Popup})
		}
	}()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			r.Do(line)
		}
	}
	if text := r.read(); !strings.Contains(text, "| Title: Solved\n") {
		r.T.Errorf("the page is not solved; it reads\n%s", text)
	}
}

// read returns the page as the agent sees it.
func (r *runner) read() string {
	r.T.Helper()
	ctx := testenv.Within(r.T, script.Limit)
	got, err := r.Daemon.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: r.Tab})
	for err == nil && len(got.GetMetadata().GetLateFrames()) > 0 {
		got, err = r.Daemon.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: r.Tab})
	}
	if err != nil {
		r.T.Fatal(err)
	}
	r.Calls++
	r.Tokens += tokens.Count(got.GetText())
	r.looked()
	return got.GetText()
}

// looked calls the witness.
func (r *runner) looked() {
	if r.witness != nil {
		r.witness(r.Tab)
	}
}

var (
	gauntletLine   = regexp.MustCompile(`(?m)^\[(\d+)\] (?:(.*) )?\((\w+)(?:[^()]|\([^()]*\))*\)(?: ‹.*›)?$`)
	gauntletTarget = regexp.MustCompile(`^(\w*) ?"([^"]*)"(?: #(\d+))?`)
)

// target returns the element that a step names, and the rest of the step.
func (r *runner) target(words string) (*domtapv1.Target, string) {
	r.T.Helper()
	m := gauntletTarget.FindStringSubmatch(words)
	if m == nil {
		r.T.Fatalf("a step names no target: %s", words)
	}
	text := r.read()
	var refs []uint32
	for _, line := range gauntletLine.FindAllStringSubmatch(text, -1) {
		if line[2] == m[2] && (m[1] == "" || line[3] == m[1]) {
			n, _ := strconv.ParseUint(line[1], 10, 32)
			refs = append(refs, uint32(n))
		}
	}
	n := 1
	if m[3] != "" {
		n, _ = strconv.Atoi(m[3])
	}
	if len(refs) < n || m[3] == "" && len(refs) > 1 {
		r.T.Fatalf("%d elements are named %q; the page reads\n%s", len(refs), m[2], text)
	}
	return &domtapv1.Target{Ref: proto.Uint32(refs[n-1])}, words[len(m[0]):]
}

// weigh fails the test if a diff costs more than the page, unless the page has changed again.
func (r *runner) weigh(got *domtapv1.InteractResponse) {
	r.T.Helper()
	page, err := r.Daemon.Dom.GetCompact(testenv.Within(r.T, script.Limit), &domtapv1.GetCompactRequest{
		TabId: r.Tab, Format: domtapv1.Format_FORMAT_DENSE, ClientId: "referee"})
	if err != nil || page.GetRevision() != got.GetTab().GetRevision() {
		return // a dialog is open, or the page changes by itself
	}
	diff, most := tokens.Count(got.GetDiffText()), tokens.Count(page.GetText())
	if diff > 0 {
		r.weighed.diffs++
		r.weighed.tokens += diff
		r.weighed.pages += most
	}
	if diff > most {
		r.T.Errorf("the diff costs %d tokens, and the page %d:\n%s\n%s", diff, most, got.GetDiffText(), page.GetText())
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}
