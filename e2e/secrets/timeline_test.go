package secrets

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestSecretParametersAreInNoTimeline opens URLs with secret parameters in every way that a timeline reports. The secrets must be neither
// in the timeline, which users see and which is recorded, nor in a recording. The client that reads the page receives the complete URL.
func TestSecretParametersAreInNoTimeline(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/none": http.NotFound,
		"/": testenv.HTML(`<title>Home</title><button onclick="history.pushState(0, '', '/?id_token=` + hidden + `'); fetch('/none?api_key=` + hidden + `').then(() => document.title = 'Done');
			console.error('no answer from ' + location.origin + '/?sig=` + hidden + `')">Go</button><a href="/none?access_token=` + hidden + `&page=2">Away</a>`),
	})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, limit)
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url + "/?access_token=" + hidden + "&page=1"})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	page, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
	if err != nil || !strings.Contains(page.GetUrl(), "access_token="+hidden) {
		t.Errorf("GetDom says %q: %v", page.GetUrl(), err)
	}
	act := func(step *domtapv1.Step) {
		t.Helper()
		if _, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{step}}); err != nil {
			t.Fatal(err)
		}
	}
	act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "Go"}}}})
	act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "Away"}}}})
	if _, err := d.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: url + "/?session=" + hidden + "#/in?jwt=" + hidden}); err != nil {
		t.Fatal(err)
	}
	answer, err := d.Timelines.GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	text := protojson.Format(answer)
	if at := strings.Index(text, hidden); at >= 0 {
		t.Errorf("the timeline tells …%s…", text[max(0, at-200):min(len(text), at+60)])
	}
	for _, want := range []string{"access_token=***&page=1", "access_token=***&page=2", "id_token=***", "api_key=***", "sig=***", "session=***#/in?jwt=***"} {
		if !strings.Contains(text, want) {
			t.Errorf("the timeline does not tell of %s:\n%s", want, text)
		}
	}
}
