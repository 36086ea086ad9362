package streams

import (
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/testenv"
)

// noticeable is a page that shows messages outside of the elements that clients request.
const noticeable = `<!doctype html><p id=e role=alert></p><button onclick="e.textContent = 'Sold out'">Buy</button>`

// TestOutcomeOnAStream follows visible effects, whatever causes them.
func TestOutcomeOnAStream(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(noticeable)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	ctx := testenv.Within(t, testenv.Patience)
	asks, err := d.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, OmitInitial: true, IncludeOutcome: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := asks.Header(); err != nil { // the page reports outcomes after this point
		t.Fatal(err)
	}
	ref := d.All(tab).GetElements()[0].GetRef()
	click := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: proto.Uint32(ref)}}}}
	if _, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{click}}); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := asks.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if o := m.GetOutcome(); o != nil {
			if got := text.Outcome([]*domtapv1.Outcome{o}, ""); got != "! alert: Sold out\n" {
				t.Errorf("got %s", got)
			}
			return
		}
	}
}
