package e2e

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const counterPage = `<!doctype html><title>Counter</title><main><h1 id=h>Count 0</h1><section aria-label=Steps><p id=p>None</p>
<button id=b>Count</button></section></main><script>let n = 0; b.onclick = () => {
	h.textContent = "Count " + ++n; p.textContent = n + " of many"; b.ariaPressed = String(n % 2 === 1); h.after(b);
};</script>`

// TestALookWithHeadingsDoesNotMakeDiffsDearer acts on a page whose headings and texts change. Answers must list those changes only for the
// client whose last read requested headings and texts.
func TestALookWithHeadingsDoesNotMakeDiffsDearer(t *testing.T) {
	d := testenv.Shared(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/counter": testenv.HTML(counterPage)}) + "/counter")
	look := func(client string, r *domtapv1.GetCompactRequest) {
		r.TabId, r.ClientId = tab, client
		if _, err := d.Dom.GetCompact(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	count := func(client string) *domtapv1.InteractResponse {
		got, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{
			TabId: tab, ClientId: client, Format: domtapv1.Format_FORMAT_DIFF, Steps: []*domtapv1.Step{button("Count")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
			t.Errorf("the verdict is %v", got.GetVerdict())
		}
		return got
	}
	look("ann", &domtapv1.GetCompactRequest{})
	first := count("ann").GetDiffText()
	look("bob", &domtapv1.GetCompactRequest{FullSnapshot: true})
	look("ann", &domtapv1.GetCompactRequest{Format: domtapv1.Format_FORMAT_DENSE})
	if again := count("ann").GetDiffText(); strings.Contains(again, "ount 2") || len(again) > len(first)+len("false → true") {
		t.Errorf("after a look of another client and one in DENSE:\n%s\nbefore:\n%s", again, first)
	}
	look("ann", &domtapv1.GetCompactRequest{InteractiveOnly: proto.Bool(false)})
	if all := count("ann").GetDiffText(); !strings.Contains(all, "Count 3") || !strings.Contains(all, "3 of many") {
		t.Errorf("the client that reads headings is told of\n%s", all)
	}
	look("ann", &domtapv1.GetCompactRequest{})
	if again := count("ann").GetDiffText(); strings.Contains(again, "ount 4") || strings.Contains(again, "of many") {
		t.Errorf("after another look without headings:\n%s", again)
	}
}

// disclosures holds details elements: named by their summaries, within each other, without a summary, and in a table.
const disclosures = `<!doctype html><title>Disclosures</title><details open><summary>Ada</summary>Born 1815 <button>Edit</button></details>
	<details open><summary>Bob</summary><button>Edit</button><details><summary>Address</summary>Main Street</details></details>
	<details id=bare open><p>Plain</p><p>More</p><p>Much more</p><button>Inside</button></details>
	<button onclick="bare.prepend(document.createElement('summary')); bare.firstChild.textContent = 'Cy'">Name it</button>
	<table><tr><th>Order<th>Info</tr><tr><td>1001<td><details><summary>Parts</summary>Two</details></tr></table>`

// TestDetailsAreTheirSummaries reads and opens details elements. Only one without a summary has a line, and a click on it toggles it.
func TestDetailsAreTheirSummaries(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/disclosures": testenv.HTML(disclosures)}) + "/disclosures")
	read := func(format domtapv1.Format) string {
		got, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: format})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(got.GetText(), "\n")
		return printedRef.ReplaceAllString(text, "[]")
	}
	const lines = "[] Ada (summary expanded)\n[] Edit (button) ‹Ada›\n[] Bob (summary expanded)\n[] Edit (button) ‹Bob›\n" +
		"[] Address (summary collapsed)\n[] Details (details expanded)\n[] Inside (button)\n[] Name it (button)\n[] Parts (summary collapsed)\n"
	if got := read(domtapv1.Format_FORMAT_LINES); got != lines {
		t.Errorf("LINES are\n%s\nwant\n%s", got, lines)
	}
	const dense = "[] Ada (button expanded) [] Edit (button)\n[] Bob (button expanded) [] Edit (button)\n[] Address (button collapsed)\n" +
		"[] Details (group expanded)\n[] Inside (button)\n[] Name it (button)\n| Order | Info\n| 1001 | [] Parts (button collapsed)\n"
	if got := read(domtapv1.Format_FORMAT_DENSE); got != dense {
		t.Errorf("DENSE is\n%s\nwant\n%s", got, dense)
	}
	for _, e := range usable(t, d, tab) {
		if e.GetTag() == "details" {
			press(t, d, tab, e)
		}
	}
	if got := read(domtapv1.Format_FORMAT_LINES); !strings.Contains(got, "Details (details collapsed") || strings.Contains(got, "Inside") {
		t.Errorf("after a click on the details without a summary:\n%s", got)
	}
	press(t, d, tab, named(t, usable(t, d, tab), "Name it"))
	if got := read(domtapv1.Format_FORMAT_LINES); strings.Contains(got, "(details") || !strings.Contains(got, "Cy (summary collapsed)") {
		t.Errorf("with a summary:\n%s", got)
	}
}
