package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// clock is a page with a counter that increases constantly. It shows the result of a click a moment later.
const clock = `<p id=count>0</p><button onclick="setTimeout(() => this.textContent = 'Saved', 30)">Save</button><script>
	let n = 0
	setInterval(() => { n++; count.textContent = n }, 10)
</script>`

// frozen freezes all tabs that are not in use, and waits until tab is frozen.
func frozen(t *testing.T, d *testenv.Daemon, tab string) {
	t.Helper()
	testenv.Await(t, "the tab is frozen", func() bool {
		d.FreezeIdle() // a call counts as use until the server has ended it
		return isFrozen(t, d, tab)
	})
}

func isFrozen(t *testing.T, d *testenv.Daemon, tab string) bool {
	t.Helper()
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list.GetTabs() {
		if one.GetId() == tab {
			return one.GetFrozen()
		}
	}
	t.Fatalf("tab %s is not in the list", tab)
	return false
}

// stands reports whether a number is unchanged after 300 ms of the page's time.
func stands(t *testing.T, d *testenv.Daemon, number func() int) bool {
	t.Helper()
	now := func() float64 { return testenv.Evaluate[float64](t, d, "performance.now()") }
	before, begun := number(), now()
	testenv.Await(t, "time passes", func() bool { return now() > begun+300 })
	return number() == before
}

// TestFrozenPagesStandStill freezes a page with a worker, a request in flight, and a frame of another site. All of them must stop until the
// next call, which must find the page running.
func TestFrozenPagesStandStill(t *testing.T) {
	d := testenv.Shared(t)
	var ticks, work atomic.Int64
	answer := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(clock + `<script>
			document.body.append(Object.assign(document.createElement("iframe"), { src: "//localhost:" + location.port + "/frame" }))
			new Worker("/worker.js")
			let answered = false
			fetch("/late").then(() => { answered = true })
		</script>`),
		"/frame": testenv.HTML(`<script>setInterval(() => fetch("/tick"), 10)</script>`),
		"/tick":  func(http.ResponseWriter, *http.Request) { ticks.Add(1) },
		"/worker.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", "text/javascript")
			_, _ = w.Write([]byte(`setInterval(() => fetch("/work"), 10)`))
		},
		"/work": func(http.ResponseWriter, *http.Request) { work.Add(1) },
		"/late": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-answer:
			case <-r.Context().Done():
			}
		},
	})
	tab := d.Open(url)
	count := func() int { return testenv.Evaluate[int](t, d, "n") }
	testenv.Await(t, "the page, its frame and its worker are at work", func() bool { return count() > 3 && ticks.Load() > 3 && work.Load() > 3 })
	frozen(t, d, tab)
	close(answer)
	if !stands(t, d, count) {
		t.Error("a timer of a frozen page runs")
	}
	testenv.Await(t, "frame and worker stand still", func() bool { return stands(t, d, func() int { return int(ticks.Load() + work.Load()) }) })
	if testenv.Evaluate[bool](t, d, "answered") {
		t.Error("a frozen page got an answer of its server")
	}
	if !isFrozen(t, d, tab) {
		t.Fatal("nobody used the tab, and it is not frozen any more")
	}
	before, beforeTicks, beforeWork := count(), ticks.Load(), work.Load()
	if d.All(tab); isFrozen(t, d, tab) {
		t.Error("the tab was read, and is frozen")
	}
	testenv.Await(t, "the page, its frame and its worker go on", func() bool {
		return count() > before+3 && ticks.Load() > beforeTicks+3 && work.Load() > beforeWork+3 && testenv.Evaluate[bool](t, d, "answered")
	})
	if testenv.Evaluate[string](t, d, "document.visibilityState + document.hasFocus()") != "visibletrue" {
		t.Error("the page does not believe that it is seen and has the focus")
	}
}

// TestCallsThawThePage makes calls on a frozen tab. Each call must find a running page.
func TestCallsThawThePage(t *testing.T) {
	d := testenv.Shared(t)
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(clock)})
	calls := map[string]func(t *testing.T, d *testenv.Daemon, tab string) error{
		"click": func(t *testing.T, d *testenv.Daemon, tab string) error {
			r, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Steps: []*domtapv1.Step{{
				Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: "Save"}}},
			}}})
			if !strings.Contains(r.GetDiffText(), "Saved") {
				t.Errorf("the answer does not say what the click led to: %v", r)
			}
			return err
		},
		"script": func(t *testing.T, d *testenv.Daemon, tab string) error {
			_, err := d.Pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: "new Promise((done) => setTimeout(done, 20))"})
			return err
		},
		"screenshot": func(t *testing.T, d *testenv.Daemon, tab string) error {
			_, err := d.Pages.Screenshot(t.Context(), &domtapv1.ScreenshotRequest{TabId: tab})
			return err
		},
		"wait": func(t *testing.T, d *testenv.Daemon, tab string) error {
			before := testenv.Evaluate[int](t, d, "n")
			_, err := d.Dom.WaitFor(t.Context(), &domtapv1.WaitForRequest{TabId: tab, Until: &domtapv1.WaitCondition{Change: true}})
			if testenv.Evaluate[int](t, d, "n") == before {
				t.Error("the page stands still after a wait for a change")
			}
			return err
		},
		"reload": func(t *testing.T, d *testenv.Daemon, tab string) error {
			_, err := d.Tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: tab})
			testenv.Await(t, "the page is at work", func() bool { return testenv.Evaluate[int](t, d, "n") > 3 })
			return err
		},
		"watch": func(t *testing.T, d *testenv.Daemon, tab string) error {
			stream, err := d.Dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab, FullSnapshot: true})
			for range 5 {
				if err == nil {
					_, err = stream.Recv()
				}
			}
			d.FreezeIdle()
			for range 5 {
				if err == nil {
					_, err = stream.Recv()
				}
			}
			if isFrozen(t, d, tab) {
				t.Error("a tab that is watched was frozen")
			}
			return err
		},
		"close": func(t *testing.T, d *testenv.Daemon, tab string) error {
			_, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			d := d.For(t)
			tab := d.Open(url)
			frozen(t, d, tab)
			if err := call(t, d, tab); err != nil {
				t.Fatal(err)
			}
			if name != "close" && isFrozen(t, d, tab) {
				t.Error("the tab is frozen after a call")
			}
		})
	}
}

// TestAFrozenPageThatCrashesComesBack kills the renderer of a frozen page.
func TestAFrozenPageThatCrashesComesBack(t *testing.T) {
	d := testenv.Shared(t)
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(clock)})
	tab := d.Open(url)
	frozen(t, d, tab)
	d.Browser.Newest().Post("Page.crash", struct{}{})
	testenv.Await(t, "the tab is crashed", func() bool {
		r, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
		return err == nil && len(r.GetTabs()) == 1 && r.GetTabs()[0].GetStatus() == domtapv1.TabStatus_TAB_STATUS_CRASHED
	})
	if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "the page is at work", func() bool { return testenv.Evaluate[int](t, d, "n") > 3 })
}
