package acting

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// listening inserts elements that are clickable only because of a listener: they have no text, role or cursor. The many listeners in the
// page slow down queries for listeners.
const listening = `<title>-</title><style>[title] { width: 90px; height: 20px }</style>
<button id=add>Add</button> <div id=place></div> <div id=host></div> <div id=sealed></div>
<iframe id=frame srcdoc="<style>[title] { width: 90px; height: 20px }</style><div id=place></div>"></iframe> <p hidden id=many></p>
<img src=picture hidden> <div title=Loaded id=loaded></div>
<script>
onload = () => loaded.addEventListener("click", () => {});
const clicked = [];
const insert = (parent, name) => {
	const el = document.createElement("div");
	el.title = name;
	el.style.cssText = "width:90px;height:20px";
	el.addEventListener("click", () => clicked.push(name));
	parent.append(el);
	return name;
};
const inserts = (parent, name, n) => { for (let i = 0; i < n; i++) insert(parent, name + i); return n };
const open = host.attachShadow({mode: "open"});
const closed = sealed.attachShadow({mode: "closed"});
closed.innerHTML = "<p>Sealed</p>";
let next = 0;
add.onclick = () => insert(place, "Handled " + ++next);
for (let i = 0; i < 2000; i++) {
	const el = document.createElement("i");
	el.onclick = () => {};
	many.append(el);
}
</script>`

// TestElementsThatOnlyListenAreInTheFirstRead repeatedly inserts elements that only a listener makes clickable, at every place in a
// document. It does so right after a read, for which the browser was queried for listeners.
func TestElementsThatOnlyListenAreInTheFirstRead(t *testing.T) {
	picture := make(chan struct{})
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": html(listening), "/picture": func(http.ResponseWriter, *http.Request) { <-picture }})
	d := testenv.Shared(t)
	opened, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: url, WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, d: d, tab: opened.GetTab().GetId()}
	t.Run("when the document has loaded", func(t *testing.T) {
		if s.shows(t, "Loaded") {
			t.Error("the element is listed before it listens")
		}
		close(picture)
		s.eval(`new Promise((loaded) => document.readyState === "complete" ? loaded() : addEventListener("load", () => setTimeout(loaded)))`)
		if !s.shows(t, "Loaded") {
			t.Error("the element is not in the first read")
		}
	})
	for _, c := range []struct{ where, parent string }{
		{"by a script", "place"},
		{"in a frame", "frame.contentDocument.getElementById('place')"},
		{"in a shadow tree", "open"},
		{"in a closed shadow tree", "closed"},
	} {
		t.Run(c.where, func(t *testing.T) {
			for i := range testenv.Size(2, 6) {
				name := fmt.Sprintf("%s %d", c.where, i)
				testenv.Evaluate[string](t, s.d, fmt.Sprintf("insert(%s, %q)", c.parent, name))
				if !s.shows(t, name) {
					t.Errorf("%s is not in the first read", name)
				}
			}
		})
	}
	t.Run("while somebody watches", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stream, err := s.d.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: s.tab})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		for i := range testenv.Size(4, 10) {
			name := fmt.Sprintf("watched %d", i)
			testenv.Evaluate[string](t, s.d, fmt.Sprintf("insert(place, %q)", name))
			if !s.shows(t, name) {
				t.Errorf("%s is not in the first read", name)
			}
		}
	})
	t.Run("after a read that was canceled", func(t *testing.T) {
		for i := range testenv.Size(5, 8) {
			name := fmt.Sprintf("canceled %d", i)
			testenv.Evaluate[string](t, s.d, fmt.Sprintf("insert(place, %q)", name))
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*3*time.Millisecond)
			_, _ = s.d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: s.tab})
			cancel()
			if !s.shows(t, name) {
				t.Errorf("%s is not in the first read", name)
			}
		}
	})
	t.Run("after many reads that were canceled", s.testCanceledReads)
	t.Run("in an action's answer", s.testListenersOfActions)
	t.Run("at no cost to others", s.testReadsThatNeedNoProbe)
	t.Run("many at once", func(t *testing.T) {
		testenv.Evaluate[int](t, s.d, `inserts(place, "many ", 1500)`)
		if n := strings.Count(strings.Join(testenv.Texts(s.d.All(s.tab)), "\n"), "generic many "); n != 1500 {
			t.Errorf("%d of 1500 elements are in the first read", n)
		}
	})
}

// shows reports whether a read with default options contains an element.
func (s *stage) shows(t *testing.T, name string) bool {
	t.Helper()
	_, ok := testenv.Find(testenv.GetDom(t, s.d, s.tab), name)
	return ok
}

// testCanceledReads cancels reads at random moments. The next read must contain everything that the canceled one would have returned.
func (s *stage) testCanceledReads(t *testing.T) {
	count := testenv.Size(20, 60)
	step := 4800 * time.Microsecond / time.Duration(count)
	for i := range count {
		name := fmt.Sprintf("Renamed %d", i)
		testenv.Evaluate[any](t, s.d, fmt.Sprintf("add.ariaLabel = %q", name))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*step)
		_, _ = s.d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: s.tab})
		cancel()
		if !s.shows(t, name) {
			t.Errorf("%s is not in the first read", name)
		}
	}
	testenv.Evaluate[any](t, s.d, "add.ariaLabel = null")
}

// testListenersOfActions has an action's handler insert an element, and acts on the element in the same turn.
func (s *stage) testListenersOfActions(t *testing.T) {
	for i := range testenv.Size(2, 5) {
		name := fmt.Sprintf("Handled %d", i+1)
		r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{
			click(&domtapv1.Target{Role: "button", Name: "Add"}), click(&domtapv1.Target{Text: name})}})
		if err != nil {
			t.Fatal(err)
		}
		if added := r.GetDiff().GetAdded(); len(added) != 1 || added[0].GetText() != name {
			t.Errorf("the answer has %v, want %s as added", added, name)
		}
		s.is("clicked.pop()", name)
	}
}

// testReadsThatNeedNoProbe counts the browser commands of reads of three pages: an unchanged page, a page with new elements that no
// listener can make clickable, and a page with new elements that a listener can make clickable.
func (s *stage) testReadsThatNeedNoProbe(t *testing.T) {
	fewest := func(change string) uint64 {
		fewest := uint64(math.MaxUint64) // a periodic probe may run with any read
		for range 5 {
			testenv.Evaluate[any](t, s.d, change+"; 0")
			before := s.d.Browser.Sent()
			testenv.GetDom(t, s.d, s.tab)
			fewest = min(fewest, s.d.Browser.Sent()-before)
		}
		return fewest
	}
	unchanged := fewest("")
	if n := fewest(`place.append("text", document.createElement("br"), document.createElement("button"))`); n != unchanged {
		t.Errorf("a read after a button came takes %d commands, one of an unchanged page %d", n, unchanged)
	}
	if n := fewest(`place.append(document.createElement("p"))`); n <= unchanged {
		t.Errorf("a read after a paragraph came, which may listen, takes %d commands, one of an unchanged page %d", n, unchanged)
	}
}
