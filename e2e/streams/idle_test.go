package streams

import (
	"context"
	"net/http"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// scriptTime is how long scripts of any kind have run in a page, in seconds, as the browser counts it.
func scriptTime(t *testing.T, p *browser.Page) float64 {
	t.Helper()
	var out struct {
		Metrics []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"metrics"`
	}
	if err := p.Call(t.Context(), "Performance.getMetrics", struct{}{}, &out); err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Metrics {
		if m.Name == "ScriptDuration" {
			return m.Value
		}
	}
	t.Fatal("the browser does not say how long scripts ran")
	return 0
}

// TestNoScriptRunsWithoutWatchers looks at the time that scripts take in a page that has none of its own: it grows
// while somebody watches, for the agent looks four times a second, and stands still before and after.
func TestNoScriptRunsWithoutWatchers(t *testing.T) {
	d := testenv.Shared(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/":      testenv.HTML(`<button id=b>Button</button>`),
		"/clock": testenv.HTML(`<button id=b>0</button><script>let n = 0; setInterval(() => { b.textContent = ++n }, 100)</script>`),
	})
	tab := d.Open(url)
	page := d.Browser.Newest()
	clock := d.Open(url + "/clock")
	ticks := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: clock})
	ctx := testenv.Within(t, 4*patience)
	if err := page.Call(ctx, "Performance.enable", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	// ran is how long scripts run while at least two and a half seconds go by in another tab: ten looks, and a pass.
	ran := func() float64 {
		t.Helper()
		before := scriptTime(t, page)
		if err := messages(ctx, ticks, 25); err != nil {
			t.Fatal(err)
		}
		return scriptTime(t, page) - before
	}
	// The page stops pushing some time after the last watcher has left, and then stays silent.
	silent := func(when string) {
		t.Helper()
		for ran() > 0 {
			if ctx.Err() != nil {
				t.Fatalf("%s, scripts run on", when)
			}
		}
		if took := ran(); took > 0 {
			t.Errorf("%s, scripts ran for %v s", when, took)
		}
	}
	silent("before anybody reads the page")
	testenv.Usual(t, d, tab)
	silent("after it was read")
	t.Run("watched", func(t *testing.T) {
		testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
		for range 2 {
			if took := ran(); took <= 0 {
				t.Error("while somebody watches, no script runs: this test sees nothing")
			}
		}
	})
	silent("after the watch")
}

// messages waits for a number of further messages.
func messages(ctx context.Context, f *testenv.Follower, n int) error {
	for range n {
		_, news, err := f.State()
		if err != nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
