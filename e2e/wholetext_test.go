package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// longPage has long texts whose ends matter: a paragraph, a button, and a growing log.
var longPage = `<title>Terms</title><h1>Terms</h1>
	<p>` + strings.Repeat("The party of the first part. ", 20) + `The fee is <b>12 dollars</b>.</p>
	<div style="cursor:pointer" onclick="document.title='card'">` + strings.Repeat("All that is known of the offer. ", 10) + `<p>Closes on Friday</p></div>
	<button onclick="document.title='agreed'">` + strings.Repeat("I have read it and ", 10) + `agree to pay</button>
	<pre>` + strings.Repeat("ok\n", 900) + `</pre>
	<script>onclick = () => setTimeout(() => { document.querySelector("pre").append("BUILD SUCCESSFUL") }, 1)</script>`

// TestTextsAreMatchedAsAWhole waits for, finds and clicks words that come after the first 100 characters of a text.
func TestTextsAreMatchedAsAWhole(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/terms": testenv.HTML(longPage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/terms")
	waitFor := func(until *domtapv1.WaitCondition) *domtapv1.WaitForResponse {
		t.Helper()
		got, err := d.Dom.WaitFor(t.Context(), &domtapv1.WaitForRequest{TabId: tab, Until: until, Timeout: durationpb.New(20 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := waitFor(&domtapv1.WaitCondition{Text: "The fee is 12 dollars."}).GetElement(); got.GetTag() != "p" || got.GetTextLeft() != 502 {
		t.Errorf("the fee stands in %v", got)
	}
	waitFor(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "button", Name: "agree to pay"}})
	click := func(target *domtapv1.Target, want string) {
		t.Helper()
		step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
		got, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{step}})
		if err != nil || got.GetTab().GetTitle() != want {
			t.Errorf("click %v: %v, %v, want the title %q", target, got, err, want)
		}
	}
	click(&domtapv1.Target{Text: "agree to pay"}, "agreed")
	click(&domtapv1.Target{Text: "Closes on Friday"}, "card")
	click(&domtapv1.Target{Role: "button", Name: strings.Repeat("I have read it and ", 5) + "I hav…+102"}, "agreed")
	waitFor(&domtapv1.WaitCondition{Text: "BUILD SUCCESSFUL"})

	found, err := d.Dom.Find(t.Context(), &domtapv1.FindRequest{TabId: tab, Query: "fee dollars"})
	if err != nil || len(found.GetMatches()) != 1 || !strings.Contains(found.GetMatches()[0].GetLine(), "…+502 (p)") {
		t.Errorf("find: %v, %v", found, err)
	}
	for ref, want := range map[uint32]string{3: "The fee is **12 dollars**", 5: "BUILD SUCCESSFUL", 1: "agree to pay"} {
		got, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab, RootRef: proto.Uint32(ref), MaxTokens: proto.Int32(0)})
		if err != nil || !strings.Contains(got.GetText(), want) || strings.Contains(got.GetText(), "# Terms") {
			t.Errorf("the text of %d: %v, %v, want %q", ref, got, err, want)
		}
	}
	dense, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE, InteractiveOnly: proto.Bool(false)})
	if err != nil || !strings.Contains(dense.GetText(), "…+502 (paragraph)") || !strings.Contains(dense.GetText(), "I hav…+102 (button") {
		t.Errorf("%v in\n%s", err, dense.GetText())
	}
}

// notePage has fields with long values.
var notePage = `<title>Note</title><textarea aria-label=Note>` + strings.Repeat("A line of a note.\n", 20) + `The end of it.</textarea>
	<input aria-label=Exact value="` + strings.Repeat("x", 50) + `"><input aria-label=Dots value="To do …">
	<select aria-label=Plan><option>` + strings.Repeat("A plan for you. ", 8) + `</select><div contenteditable aria-label=Draft>` + strings.Repeat("Dear all, ", 30) + `</div>`

// TestValuesThatAreCutSayHowMuchIsLeft reads fields with long values in all formats, and one complete value.
func TestValuesThatAreCutSayHowMuchIsLeft(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/note": testenv.HTML(notePage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/note")
	got, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	left, refs := map[string]int32{}, map[string]uint32{}
	for _, e := range got.GetElements() {
		left[e.GetText()], refs[e.GetText()] = e.GetValueLeft(), e.GetRef()
	}
	for name, want := range map[string]int32{"Note": 20*18 + 14 - 50, "Exact": 0, "Dots": 0, "Plan": 8*16 - 1 - 50, "Draft": 30*10 - 1 - 50} {
		if left[name] != want {
			t.Errorf("of the value of %s are %d characters left, want %d", name, left[name], want)
		}
	}
	for format, want := range map[domtapv1.Format]string{
		domtapv1.Format_FORMAT_DENSE: `…+324")`, domtapv1.Format_FORMAT_LINES: `…+324")`, domtapv1.Format_FORMAT_TREE: "…+324\n",
	} {
		text, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: format})
		if err != nil || !strings.Contains(text.GetText(), want) || strings.Contains(text.GetText(), "~dear") {
			t.Errorf("%v: %v, no %q, or a value as a hint, in\n%s", format, err, want, text.GetText())
		}
	}
	for name, want := range map[string]string{"Note": "A line of a note.\nThe end of it.\n```", "Plan": "you.", "Draft": "Dear all,"} {
		read, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab, RootRef: proto.Uint32(refs[name]), MaxTokens: proto.Int32(0)})
		if err != nil || !strings.Contains(read.GetText(), want) || len(read.GetText()) < 100 {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, read.GetText())
		}
	}
	note := &domtapv1.Target{Label: "Note"}
	typed, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: note, Text: " More."}}}}})
	if err != nil || !strings.Contains(typed.GetDiffText(), `…+330"`) || !strings.Contains(typed.GetDiffText(), `…+324"`) {
		t.Errorf("%v, typed behind what is shown:\n%v", err, typed)
	}
}
