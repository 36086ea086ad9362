package text

import (
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestDiffsAreFewWords(t *testing.T) {
	d := &domtapv1.Diff{
		AddedCount: 12, RemovedCount: 1, ChangedCount: 1,
		Added:   []*domtapv1.Element{{Ref: 5, Tag: "button", Text: "New\n Button"}, {Ref: 6, Tag: "input", Type: "text"}},
		Removed: []*domtapv1.RemovedElement{{Ref: 2, Tag: "a", Text: "Old Link"}},
		Changed: []*domtapv1.ChangedElement{{Ref: 9, Element: &domtapv1.Element{Tag: "input", Type: "checkbox", Text: "Gift wrap"},
			Fields: []*domtapv1.FieldChange{{Field: "checked", Old: "false", New: "true"}, {Field: "value", Old: "x"}}}},
		Moved: []*domtapv1.MovedElement{{Ref: 3, FromIndex: 1, ToIndex: 4}},
	}
	const want = `Changes: +12 -1 ~1 >1
Added:
  [5] <button>New Button</button>
  [6] <input type="text">
  … and 10 more
Removed:
  [2] <a>Old Link</a>
Changed:
  [9] <input type="checkbox"> Gift wrap: checked false → true, value x → (none)
Moved:
  [3] 1 → 4
`
	if got := Diff(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff(&domtapv1.Diff{FromRevision: 1, ToRevision: 2}); got != "" {
		t.Errorf("no change is %q", got)
	}
}

func TestResultsNameTheCandidates(t *testing.T) {
	got := Results([]*domtapv1.StepResult{
		{Ok: true, Summary: `click "Pay": ok`},
		{Ok: true, Summary: "read: ok", Text: "[1] Pay (button)"},
		{Error: "two elements fit", Candidates: []*domtapv1.Candidate{{Ref: 3, Line: "Pay (button)"}, {Ref: 4, Line: "Pay now (button)"}}},
	})
	const want = `click "Pay": ok
read: ok
[1] Pay (button)
failed: two elements fit
  [3] Pay (button)
  [4] Pay now (button)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestElementsAreJSONLinesWithoutDefaults(t *testing.T) {
	yes := domtapv1.CheckedState_CHECKED_STATE_TRUE
	got := Elements([]*domtapv1.Element{
		{Ref: 7, Tag: "input", Role: "checkbox", Text: "A <b>", Type: "checkbox", Checked: &yes, InViewport: true, Disabled: proto.Bool(false),
			Rect: &domtapv1.Rect{X: 8.4, Y: 9.6, Width: 20, Height: 20}},
		{Ref: 8, Tag: "a", Href: "https://x.example/", FrameId: "F1", Disabled: proto.Bool(true), ParentRef: proto.Uint32(7)},
	})
	const want = `{"ref":7,"tag":"input","role":"checkbox","text":"A <b>","type":"checkbox","box":[8,10,20,20],"checked":"true"}
{"ref":8,"tag":"a","href":"https://x.example/","box":[0,0,0,0],"offscreen":true,"parent":7,"frame":"F1","disabled":true}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTabLineShowsWhatIsUnusual(t *testing.T) {
	got := Tab(&domtapv1.Tab{Url: "https://x.example/", Title: "X", Status: domtapv1.TabStatus_TAB_STATUS_LOADING, HttpStatus: 404,
		Dialog: &domtapv1.Dialog{Type: domtapv1.DialogType_DIALOG_TYPE_CONFIRM, Message: "Sure?"}})
	if want := `https://x.example/ | X | loading | HTTP 404 | confirm dialog "Sure?"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Tab(&domtapv1.Tab{Url: "https://x.example/", Title: "X", Status: domtapv1.TabStatus_TAB_STATUS_READY, HttpStatus: 200}); got != "https://x.example/ | X" {
		t.Errorf("a tab as any other: %q", got)
	}
}

func TestBatchesNameEachURL(t *testing.T) {
	got := Batch([]*domtapv1.BatchResult{
		{Url: "https://a.example/", Text: "# A", Truncated: true},
		{Url: "https://b.example/", FinalUrl: "https://c.example/", ResultJson: `{"h1":["C"]}`},
		{Url: "https://d.example/", Error: "not there", HttpStatus: 404},
	})
	const want = `==> https://a.example/
# A
… more: navigate to it and continue reading
==> https://b.example/ → https://c.example/
{"h1":["C"]}
==> https://d.example/ (HTTP 404)
error: not there
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStepsThatOnlySucceededAreCounted(t *testing.T) {
	done := func(summary string) *domtapv1.StepResult { return &domtapv1.StepResult{Ok: true, Summary: summary} }
	read := done("read: ok")
	read.Text = "Total: 5"
	for _, test := range []struct {
		results []*domtapv1.StepResult
		want    string
	}{
		{[]*domtapv1.StepResult{done(`click "Save": ok`)}, "click \"Save\": ok\n"},
		{[]*domtapv1.StepResult{done(`fill "Name": ok`), done(`press "Enter": ok, on the document`)}, "2 steps: ok\npress \"Enter\": ok, on the document\n"},
		{[]*domtapv1.StepResult{done(`fill "Name": ok`), read}, "fill \"Name\": ok\nread: ok\nTotal: 5\n"},
		{[]*domtapv1.StepResult{done(`fill "Name": ok`), {Error: "no Save"}}, "fill \"Name\": ok\nfailed: no Save\n"},
	} {
		if got := BriefResults(test.results); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
