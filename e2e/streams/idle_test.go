package streams

import (
	"context"
	"net/http"
	"slices"
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

// TestNoScriptRunsWithoutWatchers looks at the time that scripts take in pages that have none of their own: it grows while somebody watches,
// for the agent looks four times a second. It stands still where nobody has read the page, after a read, and after a watch.
func TestNoScriptRunsWithoutWatchers(t *testing.T) {
	d := testenv.Shared(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/":      testenv.HTML(`<button id=b>Button</button>`),
		"/clock": testenv.HTML(`<button id=b>0</button><script>let n = 0; setInterval(() => { b.textContent = ++n }, 100)</script>`),
	})
	open := func() (tab string, page *browser.Page) {
		tab, page = d.Open(url), d.Browser.Newest()
		if err := page.Call(t.Context(), "Performance.enable", struct{}{}, nil); err != nil {
			t.Fatal(err)
		}
		return tab, page
	}
	_, alone := open()
	read, afterRead := open()
	watched, afterWatch := open()
	clock := d.Open(url + "/clock")
	ticks := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: clock})
	ctx := testenv.Within(t, 4*patience)
	// ran is how long scripts run in pages while at least two and a half seconds go by in another tab: ten looks, and a pass.
	ran := func(pages ...*browser.Page) (took []float64) {
		t.Helper()
		for _, page := range pages {
			took = append(took, -scriptTime(t, page))
		}
		if err := messages(ctx, ticks, 25); err != nil {
			t.Fatal(err)
		}
		for i, page := range pages {
			took[i] += scriptTime(t, page)
		}
		return took
	}
	testenv.Usual(t, d, read)
	t.Run("watched", func(t *testing.T) {
		testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: watched})
		for range 2 {
			if took := ran(afterWatch); took[0] <= 0 {
				t.Error("while somebody watches, no script runs: this test sees nothing")
			}
		}
	})
	// A page stops pushing some time after its last watcher has left, and then stays silent.
	for slices.Max(ran(alone, afterRead, afterWatch)) > 0 {
		if ctx.Err() != nil {
			t.Fatal("scripts run on")
		}
	}
	if took := ran(alone, afterRead, afterWatch); slices.Max(took) > 0 {
		t.Errorf("scripts ran for %v s: in a page that nobody read, in one that was read, in one that was watched", took)
	}
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
