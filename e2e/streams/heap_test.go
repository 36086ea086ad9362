package streams

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestThePagesHeapStaysFlat follows a page through many changes, each with a new element, and reads it many times. The size of its heap
// after a collection must not grow. The browser compiles and keeps every distinct argument, about 400 bytes each (page.Ack). Other growth,
// such as optimised code, happens only once, so it is sufficient if one of several rounds adds nothing.
func TestThePagesHeapStaysFlat(t *testing.T) {
	t.Parallel()
	const rounds, changes, allowed = 5, 400, 60
	d := testenv.StartDaemon(t, "js-flags=--expose-gc", "enable-precise-memory-info")
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<div id=box><button>0</button></div><script>
		window.change = (n) => { const b = document.createElement("button"); b.textContent = n; box.replaceChildren(b) }
		window.used = () => { gc(); return performance.memory.usedJSHeapSize }</script>`)}))
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	var grew []float64
	before := testenv.Evaluate[float64](t, d, "used()")
	for range rounds {
		for n := range changes {
			changeTo(t, d, f, n%10)
			if n%10 == 0 {
				testenv.GetDom(t, d, tab)
			}
		}
		now := testenv.Evaluate[float64](t, d, "used()")
		if now-before <= allowed*changes {
			return
		}
		grew = append(grew, now-before)
		before = now
	}
	t.Errorf("in %d rounds of %d changes the heap grew by %.0f bytes", rounds, changes, grew)
}

// changeTo changes the page and waits until the stream shows it.
func changeTo(t *testing.T, d *testenv.Daemon, f *testenv.Follower, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	testenv.Evaluate[any](t, d, "change("+strconv.Itoa(n)+")")
	if err := shows(ctx, f, []string{"button " + strconv.Itoa(n)}); err != nil {
		t.Fatal(err)
	}
}
