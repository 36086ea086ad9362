package e2e

import (
	"net/http"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
)

// TestWhatComesBackHasItsBox hides an element and shows it again in its old place, as editors in lists do.
func TestWhatComesBackHasItsBox(t *testing.T) {
	d := harness.StartDaemon(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": html(`<button>Stays</button><button id=b>Goes</button>`)}))
	viewport := func() *domtapv1.GetDomResponse {
		r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, ViewportOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := viewport()
	evaluate[bool](t, d, `b.style.display = 'none', true`)
	if got := viewport(); len(got.GetElements()) != 1 {
		t.Fatalf("hidden: %v", got.GetElements())
	}
	evaluate[bool](t, d, `b.style.display = '', true`)
	after := viewport()
	if difference := differs(after.GetElements(), before.GetElements()); difference != "" {
		t.Error(difference)
	}
}

// TestFirstSightOfLabelsInShadowTrees reads a page whose only label stands in a shadow tree, once.
func TestFirstSightOfLabelsInShadowTrees(t *testing.T) {
	d := harness.StartDaemon(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": html(`<style>i::before { content: "?" }</style><div id=host></div><script>
		host.attachShadow({ mode: "open" }).innerHTML = "<style>b::before { content: 'All ' }</style><label><input type=checkbox><b>of them</b></label>"
	</script>`)}))
	if _, ok := find(usual(t, d, tab), "All of them"); !ok {
		t.Errorf("got %q", tagsAndTexts(usual(t, d, tab)))
	}
}
