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

// scriptTime returns the time in seconds for which scripts have run in a page, as the browser measures it.
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

// TestNoScriptRunsWithoutWatchers measures the script time of pages without scripts of their own. It must increase while a client watches,
// because the agent checks the page four times a second. It must not increase in a page that was never read, after a read, or after a
// watch.
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
	// ran returns how long scripts run in pages during at least two and a half seconds in another tab. That is enough for ten checks and a
	// pass.
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
	testenv.GetDom(t, d, read)
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
