package acting

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestAnAnswerHasWhatTheActionSetOff clicks buttons with delayed effects that domtap can detect as pending, such as timers and requests.
// Each answer must contain the effect, however long it takes. BenchmarkEffects counts the effects that domtap cannot detect as pending.
func TestAnAnswerHasWhatTheActionSetOff(t *testing.T) {
	answers := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("answer")) }
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": html(effects), "/answer": answers})
	s := &stage{t: t, d: testenv.Shared(t)}
	for _, c := range []struct{ name, script string }{
		{"in the handler", `add()`},
		{"a promise", `Promise.resolve().then(add)`},
		{"a mutation observer", `new MutationObserver((r, o) => { o.disconnect(); add() }).observe(box, {attributes: true}); box.title = "x" + n`},
		{"a resize observer", `new ResizeObserver((r, o) => { o.disconnect(); add() }).observe(box)`},
		{"an intersection observer", `new IntersectionObserver((r, o) => { o.disconnect(); add() }).observe(box)`},
		{"a resize observer after a change", `note(), box.style.width = 20 + n + "px"`},
		{"a task after a change", `note(), scheduler.postTask(add, {priority: "user-visible"})`},
		{"messages after a change", `note(), hops(20)`},
		{"a timer", `later(add, 60, 400)`},
		{"a timer after a change", `note(), later(add, 30, 400)`},
		{"an idle callback after a change", `note(), requestIdleCallback(within(800, add))`},
		{"frames after a change", `note(), requestAnimationFrame(() => requestAnimationFrame(add))`},
		{"a request", `answer().then(add)`},
		{"a request after a change", `note(), answer().then(add)`},
		{"requests, one after the other", `note(), answer().then(() => { note(); return fetch("/answer") }).then((r) => r.text()).then(add)`},
		{"a timer after a request", `answer().then(() => later(add, 40, 90))`},
		{"a worker that begins after a change", `note(), work(add, 400)`},
		{"a script", `{ const s = document.createElement("script"); s.src = "data:text/javascript,add()"; document.head.append(s) }`},
		{"hashchange", `onhashchange = within(25, add); location.hash = "h" + n`},
		{"popstate", `onpopstate = within(25, add); history.back()`},
		{"a frame's document", `{ const f = document.createElement("iframe"); f.onload = within(25, add); f.srcdoc = "x"; box.replaceChildren(f) }`},
		{"a dialog that is closed", `note(), dialog.showModal(), dialog.onclose = add, dialog.close()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			for range slowAtMost {
				missing, slow := s.clicksFor(url, c.script)
				switch {
				case missing == "":
					return
				case !slow:
					t.Fatal(missing)
				}
			}
			t.Skip("the machine is too slow: timers took longer than an answer waits for them")
		})
	}
}

// slowAtMost limits the attempts of a case on a machine that is too slow for it.
const slowAtMost = 10

// clicksFor clicks five times in a new tab and reports the first answer that lacks the effect of its click. If slow is true, the answer may
// lack it, because the page's timer took longer than docs/acting.md promises to wait.
func (s *stage) clicksFor(url, script string) (missing string, slow bool) {
	s.t.Helper()
	s.tab = s.d.Open(url)
	defer func() {
		if _, err := s.d.Tabs.CloseTab(s.t.Context(), &domtapv1.CloseTabRequest{TabId: s.tab}); err != nil {
			s.t.Error(err)
		}
	}()
	s.eval(fmt.Sprintf("go.onclick = () => { n++; %s }, 0", script))
	button := s.at("Go")
	for i := 1; i <= 5; i++ {
		s.eval(`history.pushState(n, "")`)
		r, err := s.d.Actions.Interact(s.t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(button)}})
		if err != nil {
			s.t.Fatal(err)
		}
		row := func(e *domtapv1.Element) bool { return e.GetText() == fmt.Sprint("Row ", i) }
		if !slices.ContainsFunc(r.GetDiff().GetAdded(), row) {
			s.eval(fmt.Sprintf("shown(%d)", i))
			return fmt.Sprintf("answer %d has no row: %v", i, r), s.eval("slow") == "true"
		}
	}
	return "", false
}

const effects = `<title>Effects</title><style>#box { width: 20px; height: 20px; overflow: hidden }</style><div id=box></div><dialog id=dialog>Hello</dialog><p id=noted></p>
<button id=go>Go</button><div id=rows></div><script>
let n = 0, added = 0, slow = false;
var add = () => { rows.innerHTML = "<button>Row " + ++added + "</button>" };
var note = () => { noted.textContent = "Begun " + n };
new ResizeObserver(() => { if (box.offsetWidth > 20) add() }).observe(box);
// within returns what calls f, and notes when the browser took more than most milliseconds until then.
var within = (most, f) => { const set = performance.now(); return () => { slow = slow || performance.now() - set > most; f() } };
// later calls f after some milliseconds, and notes when the browser took more than most for that.
var later = (f, ms, most) => { setTimeout(within(most, f), ms) };
// work calls f when a new worker has begun, and notes when the browser took more than most milliseconds for that.
var work = (f, most) => {
	const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(0)"])));
	worker.onmessage = within(most, () => { worker.terminate(); f() });
};
// shown resolves when the row of a click is there.
var shown = async (row) => { for (let i = 0; added < row; i++) { if (i > 500) throw new Error("it never came"); await new Promise((done) => setTimeout(done, 10)) } };
// answer resolves when a request is answered, and notes when the answer was on its way within the browser for long.
var answer = async () => {
	await (await fetch("/answer")).text();
	const now = performance.now(), [last] = performance.getEntriesByType("resource").slice(-1);
	slow = slow || now - last.responseEnd > 10;
};
var hop = () => new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0) });
var hops = async (count) => { for (let i = 0; i < count; i++) await hop(); add() };
</script>`

// TestAFrameUnderThePointerReceivesNoPress has the page put a frame over the element while it handles the pointer's movement. The press is
// then in flight and must not reach the frame.
func TestAFrameUnderThePointerReceivesNoPress(t *testing.T) {
	sideBySide(t, map[string]string{
		"blank":         `listen(f.contentWindow)`,
		"same document": `f.contentDocument.body.innerHTML = "<button style='position:fixed;inset:0'>Buy</button>"; listen(f.contentWindow)`,
		"written":       `f.contentDocument.open(); f.contentDocument.write("<button style='position:fixed;inset:0'>Buy</button>"); f.contentDocument.close(); listen(f.contentDocument.querySelector("button"))`,
	}, func(s *stage, fill string) {
		s.show(`<body style="margin:0"><button id=go style="width:200px;height:100px">Go</button><script>
				var got = [];
				var listen = (w) => { for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) w.addEventListener(type, () => got.push(type), true) };
				go.onclick = () => got.push("button");
				go.onmouseover = () => {
					const f = document.createElement("iframe");
					f.style.cssText = "position:fixed;left:0;top:0;width:300px;height:200px;border:0";
					document.body.append(f);
					` + fill + `
				};
			</script>`)
		s.refused(click(s.at("Go")), "NOT_ACTIONABLE", "it is covered by")
		s.is("got.join()", "")
	})
}
