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
