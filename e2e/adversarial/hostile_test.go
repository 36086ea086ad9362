package adversarial

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestHostilePagesAreBounded opens pages that are designed to break a reader. Each must answer or fail with a clear status, in bounded time
// and memory, while another tab keeps working.
func TestHostilePagesAreBounded(t *testing.T) {
	// In scripts, SOME and MANY stand for numbers of elements, LONG for the number of repetitions of a word, FRAMES for a number of frames,
	// and DEPTH for the nesting depth of frames.
	sizes := strings.NewReplacer("SOME", strconv.Itoa(testenv.Size(2_500, 30_000)), "MANY", strconv.Itoa(testenv.Size(5_000, 50_000)),
		"LONG", strconv.Itoa(testenv.Size(1<<18, 5<<20)), "FRAMES", strconv.Itoa(testenv.Size(50, 200)), "DEPTH", strconv.Itoa(testenv.Size(4, 7)))
	script := func(js string) http.HandlerFunc {
		return testenv.HTML("<!doctype html><title>Hostile</title><button>First</button><div id=d></div><script>" + sizes.Replace(js) + "</script>")
	}
	pages := map[string]http.HandlerFunc{
		"deep in the source":      testenv.HTML("<title>Hostile</title><button>First</button>" + strings.Repeat("<div>", testenv.Size(8_000, 20_000)) + "<button>Deep</button>"),
		"deep and hidden":         script(`d.style.display = "none"; let n = d; for (let i = 0; i < 20000; i++) n = n.appendChild(document.createElement("div")); n.innerHTML = "<button>Deep</button>"`),
		"many elements":           script(`d.innerHTML = "<i></i><button>Same</button>".repeat(SOME)`),
		"many listeners":          script(`for (let i = 0; i < MANY; i++) { const e = document.createElement("i"); e.onclick = e.onkeydown = () => {}; d.append(e) }`),
		"a long text":             script(`d.innerHTML = "<button></button>"; d.firstChild.textContent = "x ".repeat(LONG)`),
		"long attributes":         script(`d.innerHTML = "<a>Link</a>"; d.firstChild.href = "data:," + "y".repeat(LONG); d.firstChild.name = "z".repeat(LONG); document.title = "t".repeat(1 << 20)`),
		"lone surrogates":         script(`d.innerHTML = "<button></button><input>"; d.firstChild.textContent = "a\ud800b\udc00"; d.lastChild.value = "\udfff"`),
		"document.write":          script(`addEventListener("load", () => { let n = 0; const t = setInterval(() => { document.open(); document.write("<button>Written " + n + "</button>"); document.close(); if (++n > 50) clearInterval(t) }, 1) })`),
		"many frames":             script(`for (let i = 0; i < FRAMES; i++) { const f = document.createElement("iframe"); f.srcdoc = "<button>In frame</button>"; f.width = f.height = 20; d.append(f) }`),
		"restless":                script(`setInterval(() => { for (let i = 0; i < 300; i++) d.append(document.createElement("button")); if (d.childElementCount > 3000) d.replaceChildren() }, 0)`),
		"deep and drawn":          script(`let n = d; for (let i = 0; i < 20000; i++) n = n.appendChild(document.createElement("div")); n.innerHTML = "<button>Deep</button>"`),
		"deep shadow roots":       script(`let n = d; for (let i = 0; i < 300; i++) { n = n.attachShadow({ mode: "open" }).appendChild(document.createElement("div")) } n.innerHTML = "<button>Deep</button>"`),
		"added listeners":         script(`for (let i = 0; i < MANY; i++) { const e = document.createElement("i"); e.textContent = i % 100 ? "" : "x"; e.addEventListener("click", () => {}); d.append(e) }`),
		"a long paragraph":        script(`d.innerHTML = "<p></p><button>Last</button>"; d.firstChild.textContent = "word ".repeat(LONG / 2)`),
		"many labels":             script(`d.innerHTML = "<label for=x>Label</label>".repeat(SOME) + "<input id=x>" + "<input aria-labelledby='x y x'>".repeat(SOME)`),
		"a long name of many":     script(`d.innerHTML = "<p id=p></p>" + "<button aria-labelledby=p></button>".repeat(500); p.textContent = "x ".repeat(LONG)`),
		"labels in a circle":      script(`for (let i = 0; i < 2000; i++) d.insertAdjacentHTML("beforeend", "<button id=b" + i + " aria-labelledby='b" + (i + 1) % 2000 + " b" + (i + 7) % 2000 + "'>B</button>")`),
		"writing for ever":        script(`addEventListener("load", () => { let n = 0; const write = () => { document.open(); document.write("<title>W</title><button>Written " + ++n + "</button><i></i>".repeat(200)); document.close(); setTimeout(write, 0) }; write() })`),
		"nested frames":           script(`const nest = (doc, n) => { if (!n) return; for (let i = 0; i < 2; i++) { const f = doc.createElement("iframe"); doc.body.append(f); f.contentDocument.body.innerHTML = "<button>At " + n + "</button>"; nest(f.contentDocument, n - 1) } }; nest(document, DEPTH)`),
		"frames that come and go": script(`setInterval(() => { for (let i = 0; i < 5; i++) { const f = document.createElement("iframe"); f.srcdoc = "<button>Brief</button>"; d.append(f) } while (d.childElementCount > 40) d.firstChild.remove(); if (Math.random() < .1) d.replaceChildren() }, 20)`),
		"leaving":                 script(`let n = +location.hash.slice(1) || 0; setInterval(() => { location.hash = ++n }, 0)`),
	}
	if !testenv.Long() { // TestFramesAreTakenAwayUnderTheReader is similar
		delete(pages, "frames that come and go")
	}
	handlers := map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons)}
	paths := map[string]string{}
	for name, h := range pages {
		path := fmt.Sprintf("/hostile/%d", len(paths))
		paths[name], handlers[path] = path, h
	}
	url := testenv.Pages(t, handlers)
	d := testenv.Shared(t)
	beside := d.Open(url + "/ok")
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			before := heap()
			opened, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{Url: url + path})
			if status.Code(err) == codes.Unavailable {
				// Chromium itself cannot render such a page, even without domtap.
				t.Logf("opening it: %v", err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tab := opened.GetTab().GetId()
			for _, how := range []*domtapv1.GetDomRequest{
				{TabId: tab},
				{TabId: tab, InteractiveOnly: proto.Bool(false), Incremental: true},
				{TabId: tab, FullSnapshot: true},
			} {
				r, err := d.Dom.GetDom(testenv.Within(t, testenv.Patience), how)
				bounded(t, how, r, err)
			}
			if n := len(d.All(beside).GetElements()); n != 3 {
				t.Errorf("the tab beside has %d elements", n)
			}
			if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
				t.Error(err)
			}
			if grown := int64(heap()) - int64(before); grown > 200<<20 {
				t.Errorf("the daemon's heap grew by %d MiB", grown>>20)
			}
		})
	}
}

// bounded checks that an answer about a hostile page respects the limits, or that the error recommends what to do.
func bounded(t *testing.T, how *domtapv1.GetDomRequest, r *domtapv1.GetDomResponse, err error) {
	t.Helper()
	switch status.Code(err) {
	case codes.OK:
		if n := len(r.GetElements()); !how.GetFullSnapshot() && (n == 0 || n > 300) {
			t.Errorf("%d elements", n)
		}
		if m := r.GetMetadata(); !how.GetFullSnapshot() && m.GetTokens() > 8000 {
			t.Errorf("%d tokens", m.GetTokens())
		}
		for _, e := range r.GetElements() {
			if len(e.GetText()) > 500 || len(e.GetHref()) > 9000 || len(e.GetName()) > 9000 {
				t.Errorf("an unbounded element: %.200v", e)
			}
		}
	case codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unavailable:
		t.Logf("%v: answered with %v", how, err)
	default:
		t.Errorf("%v: got %v", how, err)
	}
}

// heap returns the size of the reachable heap.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
