package e2e

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
)

// TestThePagesHeapStaysFlat follows a page through many changes, each with a new element, and reads it many times:
// what its heap holds after a collection does not grow with them. The browser compiles and keeps every argument
// that it was not given before, about 400 bytes of each (page.Ack).
func TestThePagesHeapStaysFlat(t *testing.T) {
	const changes, allowed = 1500, 100
	d := harness.StartDaemon(t, "js-flags=--expose-gc", "enable-precise-memory-info")
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": html(`<div id=box><button>0</button></div><script>
		window.change = (n) => { const b = document.createElement("button"); b.textContent = n; box.replaceChildren(b) }
		window.used = () => { gc(); return performance.memory.usedJSHeapSize }</script>`)}))
	f := follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	ctx := within(t, 2*time.Minute)
	before := 0.0
	for n := 1; n <= 2*changes; n++ {
		evaluate[any](t, d, "change("+strconv.Itoa(n%10)+")")
		if err := f.shows(ctx, []string{"button " + strconv.Itoa(n%10)}); err != nil {
			t.Fatal(err)
		}
		if n%10 == 0 {
			readAll(ctx, t, d, tab)
		}
		if n == changes {
			before = evaluate[float64](t, d, "used()")
		}
	}
	grew := evaluate[float64](t, d, "used()") - before
	t.Logf("%.0f bytes of heap, and %.0f more after %d changes", before, grew, changes)
	if grew > allowed*changes {
		t.Errorf("the heap grew by %.0f bytes in %d changes", grew, changes)
	}
}

// readAll reads a tab with boxes.
func readAll(ctx context.Context, t *testing.T, d *harness.Daemon, tab string) {
	t.Helper()
	if _, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab}); err != nil {
		t.Fatal(err)
	}
}
