package adversarial

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// manyFrames creates 200 frames. Half of them are nested in the others.
const manyFrames = `<!doctype html><title>Frames</title><button>First</button><div id=d></div><script>
	const frame = (doc, at, text) => {
		const f = doc.createElement("iframe");
		f.width = f.height = 50;
		at.append(f);
		f.contentDocument.body.innerHTML = "<button>" + text + "</button>";
		return f.contentDocument;
	};
	for (let i = 0; i < 100; i++) {
		const doc = frame(document, d, "Outer");
		frame(doc, doc.body, "Inner");
	}
</script>`

// TestFramesAreTakenAwayUnderTheReader repeatedly reads a page of 200 frames while its script removes them. Every answer must show a
// consistent state: at least as many outer frames as inner ones, and never more frames than the previous answer.
func TestFramesAreTakenAwayUnderTheReader(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(manyFrames)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	count := func() (all int) {
		got := d.All(tab)
		// With so many frames, a read may not wait long enough for the slow ones.
		for ; len(got.GetMetadata().GetLateFrames()) > 0; got = d.All(tab) {
		}
		texts := map[string]int{}
		for _, e := range got.GetElements() {
			texts[e.GetText()]++
		}
		if texts["Inner"] > texts["Outer"] {
			t.Errorf("%d frames in %d frames", texts["Inner"], texts["Outer"])
		}
		return texts["Inner"] + texts["Outer"]
	}
	before := count()
	if before != 200 {
		t.Errorf("%d frames, want 200", before)
	}
	testenv.Evaluate[bool](t, d, `setTimeout(function next() {
		for (let i = 0; i < 5; i++) { d.firstChild?.remove(); d.lastChild?.remove(); d.children[d.childElementCount >> 1]?.contentDocument.querySelector("iframe")?.remove() }
		if (d.firstChild) setTimeout(next, 0);
	}, 0), true`)
	for ctx := testenv.Within(t, testenv.Patience); before > 0; {
		now := count()
		if now > before || ctx.Err() != nil {
			t.Fatalf("%d frames after %d", now, before)
		}
		before = now
	}
	if got := testenv.Texts(testenv.GetDom(t, d, tab)); !slices.Equal(got, []string{"button First"}) {
		t.Errorf("without the frames: %q", got)
	}
}

// TestEndlessFrameDoesNotDelayOthers reads a page with a frame of another site that loops forever, and a second tab of that other site.
// Then it removes the frame.
func TestEndlessFrameDoesNotDelayOthers(t *testing.T) {
	var other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<title>Top</title><button>Before</button><iframe src="`+other+`/inner"></iframe><button>After</button>`)(w, r)
		},
		"/inner":  testenv.HTML(`<button>Inner</button><script>onmessage = () => { while (true); }</script>`),
		"/beside": testenv.HTML(testenv.SomeButtons),
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.Shared(t, "site-per-process")
	beside := d.Open(url + "/beside")
	tab := d.Open(url)
	if got := testenv.Texts(testenv.GetDom(t, d, tab)); !slices.Equal(got, []string{"button Before", "button Inner", "button After"}) {
		t.Fatalf("got %q", got)
	}
	testenv.Evaluate[bool](t, d, `frames[0].postMessage(1, "*"), document.querySelector("button").textContent = "Changed", true`)
	read := func() *domtapv1.GetDomResponse {
		r, err := d.Dom.GetDom(testenv.Within(t, testenv.Patience), &domtapv1.GetDomRequest{TabId: tab})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// The message may arrive after a read that did not see the loop.
	late := read()
	for ; len(late.GetMetadata().GetLateFrames()) == 0; late = read() {
	}
	if got := testenv.Texts(late); !slices.Equal(got, []string{"button Changed", "button Inner", "button After"}) {
		t.Errorf("with a frame that loops: %q", got)
	}
	if n := len(d.All(beside).GetElements()); n != 3 {
		t.Errorf("the tab beside has %d elements", n)
	}
	// Elements in the frame cannot be used. The tab remains usable.
	inner := late.GetElements()[1].GetRef()
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), testenv.ClickOn(tab, inner))
	if err != nil || r.GetResults()[0].GetOk() || r.GetResults()[0].GetReason() != "PAGE_UNRESPONSIVE" {
		t.Errorf("a click in the frame: %v, %v", r, err)
	}
	testenv.Evaluate[bool](t, d, `document.querySelector("iframe").remove(), true`)
	if got := testenv.Texts(read()); !slices.Equal(got, []string{"button Changed", "button After"}) {
		t.Errorf("without the frame: %q", got)
	}
	if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
		t.Error(err)
	}
}

// TestOverwrittenElementsAreRead reads elements whose properties, prototypes and string conversions the page has overwritten.
func TestOverwrittenElementsAreRead(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Overwritten</title>
		<a id=a href="/x">Link</a><button id=b aria-label="Named">B</button><input id=i value="Value" aria-label="Field">
		<custom-one role=button tabindex=0>Custom</custom-one>
		<script>
			const no = () => { throw new Error("no") };
			for (const e of [a, b, i]) {
				for (const name of ["getAttribute", "hasAttribute", "toJSON", "toString", "valueOf", "matches", "closest", "querySelectorAll",
					"getBoundingClientRect", "checkVisibility", "getRootNode", Symbol.toPrimitive, Symbol.iterator]) e[name] = no;
				for (const name of ["tagName", "localName", "textContent", "parentNode", "nodeType", "attributes", "shadowRoot", "value", "href", "isConnected", "then"])
					Object.defineProperty(e, name, { get: no, configurable: false });
				Object.setPrototypeOf(e, null);
			}
			class One extends HTMLElement {
				get role() { no() }
				get tabIndex() { no() }
				getAttribute() { no() }
				get shadowRoot() { no() }
			}
			customElements.define("custom-one", One);
			Object.freeze(Object.prototype);
			JSON.stringify = JSON.parse = window.getComputedStyle = Reflect.apply = no;
			window.MutationObserver = window.WeakMap = window.Map = window.Symbol = null;
		</script>`)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	if got, want := testenv.Texts(testenv.GetDom(t, d, tab)), []string{"link Link", "button Named", "textbox Field", "button Custom"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	got := testenv.GetDom(t, d, tab).GetElements()
	if got[0].GetHref() != url+"/x" || got[2].GetValue() != "Value" {
		t.Errorf("got %v and %v", got[0], got[2])
	}
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), testenv.ClickOn(tab, got[1].GetRef()))
	if err != nil || !r.GetResults()[0].GetOk() {
		t.Errorf("a click: %v, %v", r, err)
	}
}
