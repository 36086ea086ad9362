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

// longPage has long texts, whose ends are needed: of a paragraph, of a button, and of a log that grows.
var longPage = `<title>Terms</title><h1>Terms</h1>
	<p>` + strings.Repeat("The party of the first part. ", 20) + `The fee is <b>12 dollars</b>.</p>
	<div style="cursor:pointer" onclick="document.title='card'">` + strings.Repeat("All that is known of the offer. ", 10) + `<p>Closes on Friday</p></div>
	<button onclick="document.title='agreed'">` + strings.Repeat("I have read it and ", 10) + `agree to pay</button>
	<pre>` + strings.Repeat("ok\n", 900) + `</pre>
	<script>onclick = () => setTimeout(() => { document.querySelector("pre").append("BUILD SUCCESSFUL") }, 1)</script>`

// TestTextsAreMatchedAsAWhole waits for, finds and clicks what stands behind the first 100 characters of a text.
func TestTextsAreMatchedAsAWhole(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/terms": testenv.HTML(longPage)})
	d := testenv.Shared(t)
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
