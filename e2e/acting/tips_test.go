package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestATipDoesNotRenameWhatItIsAt clicks elements that show a tooltip while the pointer is over them. One of them has no other name. An
// action on an element that the page has reused for something else is still refused.
func TestATipDoesNotRenameWhatItIsAt(t *testing.T) {
	s := staged(t, `<!doctype html><title>Tips</title><style>
.dot { width: 20px; height: 20px; background: red; cursor: pointer; margin: 40px } .dot:hover::after, button:hover::after { content: attr(data-tip) }</style>
<div class=dot id=dot data-tip=Ebb></div><button id=save data-tip=" the draft">Save</button><button id=other>Send</button><p id=said></p>
<script>dot.onclick = () => said.textContent += " dot"; save.onclick = () => said.textContent += " saved"
other.onmouseover = () => other.textContent = "Delete"; other.onclick = () => said.textContent += " deleted"</script>`)
	page := s.d.All(s.tab).GetElements()
	ref := func(id string) *domtapv1.Step {
		for _, e := range page {
			if id == "dot" && e.GetTag() == "div" && e.GetText() == "" && e.GetActionable() || id != "dot" && e.GetText() == id {
				return click(&domtapv1.Target{Ref: new(e.GetRef())})
			}
		}
		t.Fatalf("%s is not listed: %v", id, page)
		return nil
	}
	s.ok(ref("dot"))
	s.ok(ref("Save"))
	if answer, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{ref("Send")}}); err == nil && answer.GetResults()[0].GetOk() {
		t.Errorf("a button that is another one under the pointer was clicked: %v", answer.GetResults())
	}
	if got := s.d.All(s.tab).String(); !strings.Contains(got, "dot saved") || strings.Contains(got, "deleted") {
		t.Errorf("the page says %s", got)
	}
}
