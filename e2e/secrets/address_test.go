package secrets

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestCredentialsInAddressesAreInNoAnswer opens pages whose URLs contain a password and a token, and searches every answer for them.
func TestCredentialsInAddressesAreInNoAnswer(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		// Without a title, the history shows the URL.
		"/":     testenv.HTML(`<a href="/next#part">go on</a> <button onclick="location.hash = 'access_token=` + hidden + `'">sign in</button> <img alt=logo width=20 height=20 src="/logo">`),
		"/next": testenv.HTML(`<a href="/">back</a>`),
	})
	address := strings.Replace(url, "http://", "http://me:"+hidden+"@", 1)
	d := testenv.Shared(t)
	ctx := testenv.Within(t, limit)
	l := &leaks{t: t}
	d.Record()
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: address + "/"})
	if err != nil {
		t.Fatal(err)
	}
	l.see("OpenTab", opened, err)
	tab := opened.GetTab().GetId()
	readings(ctx, d, l, tab)
	for _, name := range []string{"sign in", "go on"} {
		role := map[string]string{"sign in": "button", "go on": "link"}[name]
		done, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{
			Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: role, Name: name}}}}}})
		if err != nil {
			t.Fatal(err)
		}
		summary := done.GetResults()[0].GetSummary()
		if strings.Contains(summary, hidden) || name == "sign in" && !strings.Contains(summary, "#access_token=***") {
			t.Errorf("the summary is %q", summary)
		}
		compact, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab})
		if err != nil || strings.Contains(strings.SplitN(compact.GetText(), "[", 2)[0], hidden) {
			t.Errorf("%v: the header of %q", err, compact.GetText())
		}
	}
	dom, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
	l.see("GetDom", dom, err)
	if history := fmt.Sprint(dom.GetHistory()); err != nil || !strings.Contains(history, "#access_token=***") || !strings.Contains(history, "/next#part") {
		t.Errorf("%v: the history is %s", err, history)
	}
	reloaded, err := d.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: tab})
	l.see("Reload", reloaded, err)
	l.recordings(d)
}
