package adversarial

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// floods maps each kind of event to a script that repeatedly sends its largest event. BIG is a string of a million characters, and n is a
// counter.
var floods = map[string]string{
	"URLs within the document": `history.replaceState(null, "", "?" + n + BIG)`,
	"states of the history":    `history.pushState(BIG, "", "#" + n + BIG)`,
	"fragments":                `location.hash = n + BIG`,
	"console":                  `console.log(n + BIG, { text: BIG }, [BIG])`,
	"errors":                   `queueMicrotask(() => { throw new Error(n + BIG) })`,
	"rejections":               `Promise.reject(new Error(n + BIG))`,
	"titles":                   `document.title = n + BIG`,
	"requests":                 `fetch("/gone?" + n + BIG.slice(0, 500000)).catch(() => {})`,
	"headers":                  `fetch("/gone", { headers: { "x-long": n + BIG.slice(0, 200000) } }).catch(() => {})`,
	"bodies":                   `fetch("/gone", { method: "POST", body: n + BIG }).catch(() => {})`,
	"data URLs":                `new Image().src = "data:image/png;base64," + n + BIG`,
	"frames":                   `{ const f = document.createElement("iframe"); f.name = n + BIG; f.src = "about:blank#" + n + BIG; box.replaceChildren(f) }`,
	"workers":                  `new Worker("data:text/javascript,//" + n + BIG).onmessage = () => {}; if (n % 50 === 0) await new Promise((done) => setTimeout(done, 500))`,
	"texts":                    `box.innerHTML = "<p role=alert></p><button></button>"; for (const e of box.children) e.textContent = n + BIG`,
	"attributes":               `box.innerHTML = "<a>Link</a><input>"; box.firstChild.href = "data:," + n + BIG; box.lastChild.value = n + BIG; box.lastChild.placeholder = BIG`,
	"dialogs":                  `alert(n + BIG)`,
	"storage":                  `localStorage.setItem("k", n + BIG)`,
	"messages":                 `postMessage(n + BIG)`,
	"sockets":                  `try { new WebSocket("ws://" + location.host + "/gone?" + n + BIG.slice(0, 200000), "p" + n) } catch {}`,
}

// TestTheHeapIsBoundedUnderTheLargestEvents lets a page send the largest event of each kind at full speed, while one client follows the
// page and another reads it. The daemon's heap must grow by at most 64 MiB and shrink again within ten seconds after the tab is closed.
func TestTheHeapIsBoundedUnderTheLargestEvents(t *testing.T) {
	const bound, back, soon = 64 << 20, 16 << 20, 10 * time.Second
	span := floodSpan()
	for name, script := range floods {
		if !testenv.Long() && !slices.Contains([]string{"URLs within the document", "console", "texts", "errors"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			url := testenv.Pages(t, map[string]http.HandlerFunc{
				"/": testenv.HTML(`<!doctype html><title>Flood</title><button>First</button><div id=box></div><script>
const BIG = "x".repeat(1e6);
(async () => { for (let n = 0; ; n++) { ` + script + `; await new Promise((done) => setTimeout(done)); if (n === 3) document.body.insertAdjacentHTML("beforeend", "<button>Floods</button>") } })();
</script>`),
				"/gone": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
			})
			d := testenv.Shared(t)
			before := heap()
			tab := d.Open(url)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream, err := d.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, IncludeOutcome: true})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for err == nil {
					_, err = stream.Recv()
				}
			}()
			most := uint64(0)
			for end := time.Now().Add(span); time.Now().Before(end); {
				_, _ = d.Dom.GetDom(testenv.Within(t, time.Second), &domtapv1.GetDomRequest{TabId: tab, Incremental: true})
				most = max(most, heap())
			}
			if grown := int64(most) - int64(before); grown > bound {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
				t.Fatal(err)
			}
			<-ended
			closed := time.Now()
			left := int64(heap()) - int64(before)
			for left > back && time.Since(closed) < soon {
				time.Sleep(100 * time.Millisecond)
				left = int64(heap()) - int64(before)
			}
			if left > back {
				t.Errorf("%v after CloseTab, %d MiB are left", soon, left>>20)
			}
			t.Logf("grew by %d MiB, %d MiB left", (int64(most)-int64(before))>>20, left>>20)
		})
	}
}

// floodSpan returns the duration of each flood. All floods together take ten minutes in make test-long with STEPS=3000 or more, and less
// with fewer steps.
func floodSpan() time.Duration {
	if !testenv.Long() {
		return time.Second
	}
	return 10 * time.Minute * time.Duration(min(3000, testenv.Steps(3000))) / 3000 / time.Duration(len(floods))
}
