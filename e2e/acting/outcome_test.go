package acting

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/testenv"
)

var update = flag.Bool("update", false, "write what the daemon says into testdata")

// TestOutcome plays testdata/outcome/*.txtar: what the answers to actions say that a person would have noticed. A file has a
// comment, pages, which are sections named after their path, a script, and the transcript that comes of it. The script has
// one command a line:
//
//	open PATH           navigates there
//	click NAME          acts on the first interactive element of that name
//	fill NAME = TEXT    replaces a value
//	type NAME = TEXT    types it key by key
//	form NAME = TEXT, … fills fields and submits their form
func TestOutcome(t *testing.T) {
	files, err := filepath.Glob("testdata/outcome/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	d := testenv.Shared(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playOutcome(t, d, file) })
	}
}

func playOutcome(t *testing.T, d *testenv.Daemon, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pages, script, at := map[string]http.HandlerFunc{"/slow": slow}, "", -1
	for i, f := range a.Files {
		switch f.Name {
		case "script":
			script = string(f.Data)
		case "transcript":
			at = i
		default:
			pages[f.Name] = html(string(f.Data))
		}
	}
	url := testenv.Pages(t, pages)
	s := &stage{t: t, d: d, tab: d.Open(url + "/blank")}
	t.Cleanup(func() { // the site ends after its last request, which a tab that stays would keep open
		if _, err := d.Tabs.CloseTab(context.WithoutCancel(t.Context()), &domtapv1.CloseTabRequest{TabId: s.tab}); err != nil {
			t.Error(err)
		}
	})
	var got strings.Builder
	for line := range strings.Lines(script) {
		fmt.Fprintf(&got, "> %s%s", line, strings.ReplaceAll(s.noticed(url, strings.TrimSpace(line)), url, ""))
	}
	if *update {
		a.Files[at].Data = []byte(got.String())
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want := string(a.Files[at].Data); got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// slow answers a request when its client goes away.
func slow(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// noticed runs one command of a script and returns the lines of its outcome.
func (s *stage) noticed(url, line string) string {
	s.t.Helper()
	command, rest, _ := strings.Cut(line, " ")
	name, words, _ := strings.Cut(rest, " = ")
	request := &domtapv1.InteractRequest{TabId: s.tab}
	switch command {
	case "open":
		r, err := s.d.Tabs.Navigate(s.t.Context(), &domtapv1.NavigateRequest{TabId: s.tab, Url: url + rest})
		if err != nil {
			s.t.Fatal(err)
		}
		return text.Outcome(r.GetOutcome(), "")
	case "form":
		form := &domtapv1.FillFormRequest{TabId: s.tab, Submit: true}
		for field := range strings.SplitSeq(rest, ", ") {
			label, value, _ := strings.Cut(field, " = ")
			form.Fields = append(form.Fields, &domtapv1.FormField{Label: label, Value: value})
		}
		r, err := s.d.Actions.FillForm(s.t.Context(), form)
		if err != nil {
			s.t.Fatal(err)
		}
		return text.Outcome(r.GetOutcome(), "")
	case "click":
		request.Steps = []*domtapv1.Step{click(s.at(rest))}
	case "fill":
		request.Steps = []*domtapv1.Step{{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: s.at(name), Text: words}}}}
	case "type":
		request.Steps = []*domtapv1.Step{{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: s.at(name), Text: words}}}}
	default:
		s.t.Fatalf("no command %q", line)
	}
	r, err := s.d.Actions.Interact(s.t.Context(), request)
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return text.Outcome(r.GetOutcome(), "")
}
