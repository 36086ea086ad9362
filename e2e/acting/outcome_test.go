package acting

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/testenv"
)

// TestOutcome runs testdata/outcome/*.txtar, which test the visible effects that answers to actions report. A file has a comment, pages in
// sections named after their path, a script, and the expected transcript. The script has one command per line:
//
//	open PATH           navigates to PATH
//	click NAME          clicks the first interactive element of that name
//	fill NAME = TEXT    replaces a value
//	type NAME = TEXT    types TEXT key by key
//	hover TEXT          moves the pointer to the innermost element of that text
//	select NAME = TEXT  selects an option
//	press KEY           presses a key, without a target
//	form NAME = TEXT, … fills fields and submits their form
func TestOutcome(t *testing.T) {
	golden.Each(t, "testdata/outcome/*.txtar", 1, playOutcome)
}

func playOutcome(t *testing.T, a *golden.Archive) {
	d := testenv.Apart(t)
	pages := map[string]http.HandlerFunc{"/slow": slow}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "/") {
			pages[f.Name] = html(string(f.Data))
		}
	}
	script, _ := a.Section("script")
	url := testenv.Pages(t, pages)
	s := &stage{t: t, d: d, tab: d.Open(url + "/blank")}
	t.Cleanup(func() { // the server stops after its last request, which an open tab would keep alive
		if _, err := d.Tabs.CloseTab(context.WithoutCancel(t.Context()), &domtapv1.CloseTabRequest{TabId: s.tab}); err != nil {
			t.Error(err)
		}
	})
	var got strings.Builder
	for line := range strings.Lines(script) {
		fmt.Fprintf(&got, "> %s%s", line, strings.ReplaceAll(s.outcomeOf(url, strings.TrimSpace(line)), url, ""))
	}
	a.Compare(t, "transcript", got.String())
}

// slow returns when the client disconnects.
func slow(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// outcomeOf runs one command of a script and returns the lines of its outcome.
func (s *stage) outcomeOf(url, line string) string {
	s.t.Helper()
	command, rest, _ := strings.Cut(line, " ")
	name, words, _ := strings.Cut(rest, " = ")
	request := &domtapv1.InteractRequest{TabId: s.tab, ClientId: "outcome"} // a client that has read nothing, so that diffs list no texts
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
	case "select":
		request.Steps = []*domtapv1.Step{{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: s.at(name), Values: []string{words}}}}}
	case "hover":
		request.Steps = []*domtapv1.Step{{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: &domtapv1.Target{Text: rest}}}}}
	case "press":
		request.Steps = []*domtapv1.Step{{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: rest}}}}
	default:
		s.t.Fatalf("no command %q", line)
	}
	r, err := s.d.Actions.Interact(s.t.Context(), request)
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return text.Outcome(r.GetOutcome(), "")
}

// TestAnAnnouncementIsAChange announces something in an invisible live region, as drag and drop libraries do. An answer that contains the
// announcement does not say that nothing changed.
func TestAnAnnouncementIsAChange(t *testing.T) {
	s := staged(t, `<button autofocus onclick="said.textContent = 'Picked up item 1'">Lift</button>
		<div id=said aria-live=assertive style="position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(100%)"></div>`)
	r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(s.at("Lift"))}})
	if err != nil || len(r.GetOutcome()) == 0 || r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
		t.Errorf("%v with %v, %v", r.GetVerdict(), r.GetOutcome(), err)
	}
}

// TestWhatWasInsertedDuringATurnHasItsRef inserts a dialog and an invalid field in one click.
func TestWhatWasInsertedDuringATurnHasItsRef(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": html(`<title>New</title><button onclick="document.body.insertAdjacentHTML('beforeend',
		'<div role=dialog aria-label=Account><label>E-mail <input aria-invalid=true></label></div>')">New</button>`)})
	d := testenv.Apart(t)
	s := &stage{t: t, d: d, tab: d.Open(url + "/")}
	done, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Steps: []*domtapv1.Step{click(s.at("New"))}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: s.tab, FullSnapshot: true})
	if err != nil {
		t.Fatal(err)
	}
	roles := map[domtapv1.OutcomeKind]string{domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG: "dialog", domtapv1.OutcomeKind_OUTCOME_KIND_INVALID: "textbox"}
	for _, o := range done.GetOutcome() {
		for _, e := range page.GetElements() {
			if o.Ref != nil && e.GetRef() == o.GetRef() && e.GetRole() == roles[o.GetKind()] {
				delete(roles, o.GetKind())
			}
		}
	}
	if len(roles) > 0 {
		t.Errorf("no refs of %v in %v", roles, done.GetOutcome())
	}
}
