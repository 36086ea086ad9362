package streams

import (
	"net/http"
	"slices"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const listenersPage = `<title>Listeners</title>
<div id=own>Own</div><div id=late>Late</div><span id=plain>Plain</span>
<p id=pressed>Pressed</p><button><i id=inner>Button</i></button>
<ul id=list><li><a href=/1>1</a><li><a href=/2>2</a><li><a href=/3>3</a><li><a href=/4>4</a><li><a href=/5>5</a><li><a href=/6>6</a></ul>
<div id=host></div><my-box></my-box>
<iframe srcdoc="<p id=f>Framed</p><script>f.addEventListener('click', () => {})</script>"></iframe>
<script>
const hear = (el, type = "click") => el.addEventListener(type, () => { el.textContent += "!" })
hear(own); hear(pressed, "pointerdown"); hear(inner); list.onclick = document.body.onclick = document.onclick = () => {}
const root = host.attachShadow({mode: "open"})
root.innerHTML = "<p>Shadowed</p>"
hear(root.firstChild)
customElements.define("my-box", class extends HTMLElement {
  constructor() { super(); const r = this.attachShadow({mode: "closed"}); r.innerHTML = "<button>Closed</button><b>Deep</b>"; hear(r.lastChild) }
})
</script>`

// TestListenersAndClosedRootsAreSeen reads elements that are actionable only because of a listener, and elements in a closed shadow root.
// It follows listeners that are added and removed.
func TestListenersAndClosedRootsAreSeen(t *testing.T) {
	d := testenv.Shared(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(listenersPage)}))
	got := testenv.GetDom(t, d, tab)
	want := []string{
		"div Own", "p Pressed", "button Button", "a 1", "a 2", "a 3", "a 4", "a 5", "a 6", "p Shadowed", "button Closed", "b Deep", "p Framed",
	}
	if !slices.Equal(testenv.TagTexts(got), want) {
		t.Fatalf("got  %q\nwant %q", testenv.TagTexts(got), want)
	}
	for _, name := range []string{"Own", "Deep", "Framed"} {
		i := slices.IndexFunc(got.GetElements(), func(e *domtapv1.Element) bool { return e.GetText() == name })
		if _, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, got.GetElements()[i].GetRef())); err != nil {
			t.Errorf("clicking %s: %v", name, err)
		}
	}
	if own, ok := testenv.Find(testenv.GetDom(t, d, tab), "Own!"); !ok {
		t.Errorf("the click did not arrive: %v", own)
	}
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	testenv.Evaluate[bool](t, d, `hear(late), own.replaceWith(own.cloneNode(true)), true`)
	ctx := testenv.Within(t, testenv.Patience)
	for {
		now := testenv.GetDom(t, d, tab)
		_, late := testenv.Find(now, "Late")
		_, own := testenv.Find(now, "Own!")
		if late && !own {
			if err := f.Reaches(ctx, now); err != nil {
				t.Error(err)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("got %q", testenv.TagTexts(now))
		}
	}
}

// TestStreamsSeeListenersByThemselves adds a listener to an element of a watched page, without any other change.
func TestStreamsSeeListenersByThemselves(t *testing.T) {
	d := testenv.Shared(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<button>One</button><div id=late>Late</div>`)}))
	stream, err := d.Dom.WatchDom(testenv.Within(t, testenv.Patience), &domtapv1.WatchDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	for first := true; ; first = false {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if first {
			testenv.Evaluate[bool](t, d, `late.addEventListener("click", () => {}), true`)
		}
		if added := m.GetDiff().GetAdded(); len(added) == 1 && added[0].GetText() == "Late" {
			return
		}
	}
}
