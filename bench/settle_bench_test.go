package bench

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// effects lists ways in which a click may have an effect. Each is JavaScript that finally calls add. D is the delay in milliseconds that
// the case requests.
var effects = []struct{ name, script string }{
	{"sync", `add()`},
	{"promise", `Promise.resolve().then(() => {}).then(add)`},
	{"mutation-observer", `new MutationObserver((r, o) => { o.disconnect(); add() }).observe(box, {attributes: true}); box.title = "x" + n`},
	{"resize-observer", `new ResizeObserver((r, o) => { o.disconnect(); add() }).observe(box)`},
	{"intersection-observer", `new IntersectionObserver((r, o) => { o.disconnect(); add() }).observe(box)`},
	{"post-task", `scheduler.postTask(add)`},
	{"messages-20x2ms", `(async () => { for (let i = 0; i < 20; i++) { await hop(); spin(2) } add() })()`},
	{"frames-3", `requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(add)))`},
	{"idle-callback", `requestIdleCallback(add)`},
	{"post-task-10", `scheduler.postTask(add, {delay: 10})`},
	{"image", `{ const i = new Image(); i.onload = i.onerror = add; i.src = "/image?" + n }`},
	{"image-data", `{ const i = new Image(); i.onload = i.onerror = add; i.src = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==#" + n }`},
	{"frame-timer-10", `child.contentWindow.setTimeout(add, 10)`},
	{"fetch-then-timer-10", `fetch("/answer?d=5").then((r) => r.text()).then(() => setTimeout(add, 10))`},
	{"fetch-then-timer-60", `fetch("/answer?d=5").then((r) => r.text()).then(() => setTimeout(add, 60))`},
	{"indexed-db", `{ const r = indexedDB.open("db" + n); r.onsuccess = add }`},
	{"crypto", `crypto.subtle.digest("SHA-256", new Uint8Array(1000)).then(add, add)`},
	{"dialog-close", `{ dialog.showModal(); dialog.onclose = add; dialog.close() }`},
	{"view-transition", `document.startViewTransition(add)`},
	{"hashchange", `location.hash = "h" + n`},
	{"popstate", `history.pushState(n, ""), history.back()`},
	{"history-forth-and-back", `history.back()`},
	// The page shows immediately that it has started.
	{"noted,post-task-10", `note(), scheduler.postTask(add, {delay: 10})`},
	{"noted,worker-10", `note(), work(10, add)`},
	{"noted,indexed-db", `{ note(); const r = indexedDB.open("db" + n); r.onsuccess = add }`},
	{"noted,fetch-40", `note(), fetch("/answer?d=40").then((r) => r.text()).then(add)`},
	{"noted,timer-40", `note(), setTimeout(add, 40)`},
	{"noted,popstate", `note(), history.pushState(n, ""), history.back()`},
	{"noted,hashchange", `note(), location.hash = "h" + n`},
	{"noted,image", `{ note(); const i = new Image(); i.onload = i.onerror = add; i.src = "/image?" + n }`},
}

// delayed lists ways in which an effect may occur after an arbitrary time.
var delayed = []struct{ name, script string }{
	{"messages", `(async () => { const end = performance.now() + D; do await hop(); while (performance.now() < end); add() })()`},
	{"timer", `setTimeout(add, D)`},
	{"frames", `{ const end = performance.now() + D; const step = () => performance.now() >= end ? add() : requestAnimationFrame(step); requestAnimationFrame(step) }`},
	{"fetch", `fetch("/answer?d=" + D).then((r) => r.text()).then(add)`},
	{"worker", `work(D, add)`},
	{"transition", `{ box.ontransitionend = add; box.style.transition = "width " + D + "ms"; box.style.width = 20 + n % 2 + "px"; if (!D) add() }`},
}

const effectPage = `<!doctype html><title>Effects</title><style>#box { width: 20px; height: 20px }</style><div id=box></div><dialog id=dialog>Hello</dialog><p id=noted></p>
<iframe id=child srcdoc="frame"></iframe><p>%s</p><button id=go>Go</button><div id=rows></div><script>
const D = %d;
let n = 0, added = 0;
const add = () => { rows.innerHTML = "<button>Row " + ++added + "</button>" };
const note = () => { noted.textContent = "Begun " + n };
const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end;); };
const hop = () => new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); done() }; c.port2.postMessage(0) });
let worker;
const work = (ms, done) => { worker ??= new Worker(URL.createObjectURL(new Blob(["onmessage = (e) => setTimeout(() => postMessage(0), e.data)"]))); worker.onmessage = done; worker.postMessage(ms) };
onhashchange = add;
if (%t) onpopstate = add;
go.onclick = () => { n++; %s };
</script>`

// BenchmarkEffects clicks a button whose effect occurs in many ways, immediately and later. It reports the share of answers that contain
// the effect, and the time of a click. The pauses between clicks vary, like the pauses of real callers.
func BenchmarkEffects(b *testing.B) {
	d := testenv.StartDaemon(b)
	for _, e := range effects {
		b.Run(e.name, func(b *testing.B) { clickForEffect(b, d, e.name, e.script, 0) })
	}
	for _, e := range delayed {
		for _, ms := range []int{0, 1, 5, 20, 50, 100, 300} {
			b.Run(fmt.Sprintf("%s/%d", e.name, ms), func(b *testing.B) { clickForEffect(b, d, e.name, e.script, ms) })
		}
	}
}

func clickForEffect(b *testing.B, d *testenv.Daemon, name, script string, delay int) {
	mux := http.NewServeMux()
	back := name == "history-forth-and-back" || strings.HasSuffix(name, "popstate")
	mux.HandleFunc("/", serve(fmt.Sprintf(effectPage, name, delay, back, script)))
	mux.HandleFunc("/image", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		w.Header().Set("content-type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`))
	})
	mux.HandleFunc("/answer", func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(r.FormValue("d"))
		time.Sleep(time.Duration(ms) * time.Millisecond)
	})
	tab := d.Open(testenv.Serve(b, mux))
	defer func() {
		if _, err := d.Tabs.CloseTab(b.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			b.Error(err)
		}
	}()
	var ref *uint32
	for _, e := range d.All(tab).GetElements() {
		if e.GetText() == "Go" {
			ref = proto.Uint32(e.GetRef())
		}
	}
	click := &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{
		Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: ref}}}}}}
	seen, clicks := 0, 0
	var took []time.Duration
	for b.Loop() {
		clicks++
		if back {
			time.Sleep(50 * time.Millisecond) // Chromium ignores navigations beyond 200 in ten seconds
		}
		if name == "history-forth-and-back" {
			evaluatePage(b, d, `history.pushState(1, "")`)
		}
		start := time.Now()
		r, err := d.Actions.Interact(b.Context(), click)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		if slices.ContainsFunc(r.GetDiff().GetAdded(), func(e *domtapv1.Element) bool { return e.GetText() == fmt.Sprint("Row ", clicks) }) {
			seen++
		}
		for deadline := time.Now().Add(2 * time.Second); evaluatePage(b, d, "added") < clicks; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				b.Fatalf("the effect of click %d never came", clicks)
			}
		}
		d.All(tab)
		time.Sleep(time.Duration(20+rand.IntN(30)) * time.Millisecond)
	}
	slices.Sort(took)
	b.ReportMetric(float64(seen)/float64(clicks), "seen/click")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "ms-p90")
}

// evaluatePage runs an expression in the page that was opened last and returns its numeric result, if any.
func evaluatePage(b *testing.B, d *testenv.Daemon, expression string) int {
	b.Helper()
	var out evaluated[any]
	if err := d.Browser.Newest().Call(b.Context(), "Runtime.evaluate", evaluateParams{expression, true}, &out); err != nil {
		b.Fatal(err)
	}
	n, _ := out.Result.Value.(float64)
	return int(n)
}
