package secrets

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestNoSecretIsInTheLinesOfAValue reads a multi-line field into which the page copies the text typed into another field.
func TestNoSecretIsInTheLinesOfAValue(t *testing.T) {
	const secret = "hunter2-canary"
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Lines</title><label>Password <input type=password
		oninput="document.querySelector('textarea').value = 'First line\nIt is ' + this.value + ' here\nLast line'"></label><label>Notes <textarea></textarea></label>`)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	refs := map[string]uint32{}
	for _, e := range d.All(tab).GetElements() {
		refs[e.GetTag()] = e.GetRef()
	}
	if _, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Ref: proto.Uint32(refs["input"])}, Text: secret}}}}}); err != nil {
		t.Fatal(err)
	}
	read, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab, RootRef: proto.Uint32(refs["textarea"])})
	if err != nil || strings.Contains(read.GetText(), secret) || !strings.Contains(read.GetText(), "First line\nIt is") || !strings.Contains(read.GetText(), "here\nLast line") {
		t.Errorf("%v, in\n%s", err, read.GetText())
	}
}
