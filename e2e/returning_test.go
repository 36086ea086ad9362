package e2e

import (
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestReappearingElementHasItsBox hides an element and shows it again at its old place, as list editors do.
func TestReappearingElementHasItsBox(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<button>Stays</button><button id=b>Goes</button>`)}))
	viewport := func() *domtapv1.GetDomResponse {
		r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, ViewportOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := viewport()
	testenv.Evaluate[bool](t, d, `b.style.display = 'none', true`)
	if got := viewport(); len(got.GetElements()) != 1 {
		t.Fatalf("hidden: %v", got.GetElements())
	}
	testenv.Evaluate[bool](t, d, `b.style.display = '', true`)
	after := viewport()
	if difference := testenv.Diff(after.GetElements(), before.GetElements()); difference != "" {
		t.Error(difference)
	}
}

// TestFirstSightOfLabelsInShadowTrees reads a page once. Its only label is in a shadow tree.
func TestFirstSightOfLabelsInShadowTrees(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<style>i::before { content: "?" }</style><div id=host></div><script>
		host.attachShadow({ mode: "open" }).innerHTML = "<style>b::before { content: 'All ' }</style><label><input type=checkbox><b>of them</b></label>"
	</script>`)}))
	if _, ok := testenv.Find(testenv.GetDom(t, d, tab), "All of them"); !ok {
		t.Errorf("got %q", testenv.TagTexts(testenv.GetDom(t, d, tab)))
	}
}

// TestFramesThatWereTouchedBeforeTheyLoadedAreRead has a script access a frame before the frame's document is loaded. The window of the
// initial blank document then remains in use.
func TestFramesThatWereTouchedBeforeTheyLoadedAreRead(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(`<button>Outer</button><script>
			const f = document.createElement("iframe");
			f.src = "/inner";
			document.body.append(f);
			f.contentWindow.early = 1;
			f.contentDocument.body.innerHTML = "<button>Blank</button>";
		</script>`),
		"/inner": testenv.HTML(`<button onclick="this.textContent = 'Pressed'">Inner</button>`),
	}))
	if got := testenv.TagTexts(testenv.GetDom(t, d, tab)); len(got) != 2 || !strings.Contains(got[1], "Inner") {
		t.Fatalf("got %q", got)
	}
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{button("Inner")}})
	if err != nil || r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
		t.Errorf("got %v, %v", r, err)
	}
}
