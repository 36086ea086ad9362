package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// redrawPage re-creates lists of records each time. The buttons of all rows have the same name, and only the name of a record distinguishes
// the rows. The page records which record was clicked.
const redrawPage = `<!doctype html><h1>People</h1><ul id=list></ul><div id=host></div><script>
const clicks = [];
let root = list;
const row = ([id, name]) => {
	const li = document.createElement("li");
	li.innerHTML = "<span></span> <button>Edit</button>";
	li.firstChild.textContent = name;
	li.lastChild.addEventListener("click", () => clicks.push(id));
	return li;
};
const ways = {
	replace(rows) { root.replaceChildren(...rows.map(row)) },
	empty(rows) { root.innerHTML = ""; for (const r of rows) root.append(row(r)) },
	last(rows) { while (root.lastChild) root.lastChild.remove(); root.append(...rows.map(row)) },
	late(rows) { root.innerHTML = ""; setTimeout(() => ways.replace(rows)) },
	both(rows) { const old = [...root.children]; root.append(...rows.map(row)); for (const o of old) o.remove() },
	whole(rows) { const next = root.cloneNode(); next.append(...rows.map(row)); root.replaceWith(next); root = next },
	wrapped(rows) { const box = document.createElement("div"); box.append(...rows.map(row)); root.replaceChildren(box) },
};
</script>`

// record is a row of redrawPage. Several records may have the same name.
type record struct {
	id   int
	name string
}

// redrawRig renders records on redrawPage and knows the record of each button.
type redrawRig struct {
	t    *testing.T
	d    *testenv.Daemon
	tab  string
	rows []record
	ids  int
}

func newRedrawRig(t *testing.T, d *testenv.Daemon, names ...string) *redrawRig {
	r := &redrawRig{t: t, d: d, tab: d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(redrawPage)}))}
	r.draw("replace", r.named(names...))
	return r
}

// named returns a record for each name.
func (r *redrawRig) named(names ...string) (out []record) {
	for _, name := range names {
		r.ids++
		out = append(out, record{r.ids, name})
	}
	return out
}

// draw renders records.
func (r *redrawRig) draw(way string, rows []record) {
	r.t.Helper()
	r.rows = rows
	testenv.Evaluate[bool](r.t, r.d, r.drawing(way, rows)+", new Promise((done) => setTimeout(() => done(true), 5))")
}

func (r *redrawRig) drawing(way string, rows []record) string {
	list := [][]any{}
	for _, one := range rows {
		list = append(list, []any{one.id, one.name})
	}
	text, err := json.Marshal(list)
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprintf("ways.%s(%s)", way, text)
}

// reuse shows another record in row i and re-renders the list. Then it runs the rest of the script.
func (r *redrawRig) reuse(i int, rest string) []record {
	r.t.Helper()
	rows := slices.Clone(r.rows)
	rows[i] = r.named("Eve")[0]
	testenv.Evaluate[bool](r.t, r.d, fmt.Sprintf(`root.children[%d].firstChild.textContent = "Eve", %s, %s`, i, r.drawing("replace", rows), rest))
	return rows
}

// refuses clicks a ref, which must be refused as stale.
func (r *redrawRig) refuses(ref uint32) {
	r.t.Helper()
	if clicked, err := r.click(ref); err == nil || len(clicked) > 0 || testenv.Reason(err) != "STALE_REF" {
		r.t.Errorf("ref %d was Ann's, and clicked %v, %v", ref, clicked, err)
	}
}

// refs reads the page and returns the refs of the buttons, in the order of the records.
func (r *redrawRig) refs() (out []uint32) {
	r.t.Helper()
	for _, e := range testenv.GetDom(r.t, r.d, r.tab).GetElements() {
		if e.GetText() == "Edit" {
			out = append(out, e.GetRef())
		}
	}
	if len(out) != len(r.rows) {
		r.t.Fatalf("%d buttons for %v", len(out), r.rows)
	}
	return out
}

// click clicks a ref and returns the records that were clicked.
func (r *redrawRig) click(ref uint32) (clicked []int, err error) {
	r.t.Helper()
	_, err = turn(r.t, r.d, r.tab, clickAt(&domtapv1.Target{Ref: proto.Uint32(ref)}))
	return testenv.Evaluate[[]int](r.t, r.d, "clicks.splice(0)"), err
}

func TestEqualElementsThatReplacedEqualOnesKeepTheirRefs(t *testing.T) {
	r := newRedrawRig(t, testenv.Apart(t), "Ann", "Bob", "Cid", "Dan")
	people := r.rows
	refs := r.refs()
	at := func(places ...int) (out []uint32) {
		for _, i := range places {
			out = append(out, refs[i])
		}
		return out
	}
	for _, c := range []struct {
		way, what string
		rows      []record
		kept      []uint32
	}{
		{"replace", "the same", people, refs},
		{"empty", "the same", people, refs},
		{"last", "the same", people, refs},
		{"whole", "the same", people, refs},
		{"replace", "sorted", []record{people[3], people[2], people[1], people[0]}, at(3, 2, 1, 0)},
		{"replace", "filtered", []record{people[3], people[1]}, at(3, 1)},
	} {
		r.draw(c.way, c.rows)
		if got := r.refs(); !slices.Equal(got, c.kept) {
			t.Errorf("%s, drawn by %s: refs %v, want %v", c.what, c.way, got, c.kept)
		}
	}
	eve := r.named("Eve")[0]
	r.draw("replace", []record{people[3], eve, people[1]})
	got := r.refs()
	if got[0] != refs[3] || got[2] != refs[1] || slices.Contains(refs, got[1]) {
		t.Errorf("one more in the middle: refs %v of %v", got, refs)
	}
	for i, ref := range got { // each ref is the current button
		if clicked, err := r.click(ref); err != nil || !slices.Equal(clicked, []int{r.rows[i].id}) {
			t.Errorf("ref %d of %v clicked %v, %v", ref, r.rows[i], clicked, err)
		}
	}
}

func TestDoubtfulElementsGetNewRefs(t *testing.T) {
	d := testenv.Apart(t)
	for _, c := range []struct {
		what, way     string
		before, after []string
		kept          int
	}{
		{"two equal rows", "replace", []string{"Ann", "Ann", "Bob", "Cid", "Dan"}, []string{"Ann", "Ann", "Bob", "Cid", "Dan"}, 3},
		{"a duplicate comes", "replace", []string{"Ann", "Bob", "Cid"}, []string{"Ann", "Ann", "Bob", "Cid"}, 2},
		{"other records", "replace", []string{"Ann", "Bob"}, []string{"Cid", "Dan"}, 0},
		{"one of another list", "replace", []string{"Ann", "Bob", "Cid"}, []string{"Eve", "Bob", "Fay"}, 0},
		{"the new ones before the old ones go", "both", []string{"Ann", "Bob"}, []string{"Ann", "Bob"}, 0},
		{"empty for a while", "late", []string{"Ann", "Bob"}, []string{"Ann", "Bob"}, 0},
		{"in another place", "wrapped", []string{"Ann", "Bob"}, []string{"Ann", "Bob"}, 0},
	} {
		r := newRedrawRig(t, d, c.before...)
		before, was := r.refs(), r.rows
		// Existing records keep their identity, and new ones have a new identity.
		var rows []record
		for i, name := range c.after {
			if at := slices.IndexFunc(was, func(o record) bool { return o.name == name && !slices.Contains(rows, o) }); at >= 0 {
				rows = append(rows, was[at])
			} else {
				rows = append(rows, r.named(c.after[i])[0])
			}
		}
		r.draw(c.way, rows)
		after := r.refs()
		kept := 0
		for i, ref := range before {
			if slices.Contains(after, ref) {
				kept++
				continue
			}
			if clicked, err := r.click(ref); err == nil && !slices.Equal(clicked, []int{was[i].id}) || err != nil && len(clicked) > 0 {
				t.Errorf("%s: ref %d of %v clicked %v, %v", c.what, ref, was[i], clicked, err)
			}
		}
		if kept != c.kept {
			t.Errorf("%s: %d of %v kept their refs, %v; want %d", c.what, kept, before, after, c.kept)
		}
	}
}

// TestARowThatWasNotNotedInTimeIsNotInherited reuses the last of many rows immediately after a first read, when the page may not have
// recorded that row's text yet.
func TestARowThatWasNotNotedInTimeIsNotInherited(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint("Ann ", i))
	}
	d := testenv.Apart(t)
	for range 3 {
		r := newRedrawRig(t, d, names...)
		elements := r.d.All(r.tab).GetElements()
		buttons := slices.DeleteFunc(elements, func(e *domtapv1.Element) bool { return e.GetText() != "Edit" })
		last := len(r.rows) - 1
		r.reuse(last, "new Promise((noted) => setTimeout(() => noted(true), 300))") // the click is refused whether or not the row was recorded
		r.refuses(buttons[last].GetRef())
	}
}

// TestARowThatShowsAnotherRecordIsRefusedAfterARedraw reuses a row for another record before the list is re-rendered with that record.
func TestARowThatShowsAnotherRecordIsRefusedAfterARedraw(t *testing.T) {
	r := newRedrawRig(t, testenv.Apart(t), "Ann", "Bob", "Cid")
	refs := r.refs()
	rows := r.reuse(0, "true")
	r.refuses(refs[0])
	if clicked, err := r.click(refs[1]); err != nil || !slices.Equal(clicked, []int{rows[1].id}) {
		t.Errorf("ref %d is Bob's, and clicked %v, %v", refs[1], clicked, err)
	}
}

func TestRedrawsInFramesAndShadowTreesKeepRefs(t *testing.T) {
	d := testenv.Apart(t)
	r := newRedrawRig(t, d, "Ann", "Bob", "Cid")
	testenv.Evaluate[bool](t, d, `root.remove(), root = host.attachShadow({ mode: "closed" }), true`)
	r.draw("replace", r.rows)
	r.refs()
	refs := r.refs()
	r.draw("replace", r.rows)
	if again := r.refs(); !slices.Equal(again, refs) {
		t.Errorf("in a shadow tree: refs %v, then %v", refs, again)
	}
	if clicked, err := r.click(refs[1]); err != nil || !slices.Equal(clicked, []int{r.rows[1].id}) {
		t.Errorf("in a shadow tree: clicked %v, %v", clicked, err)
	}

	outer := d.Open(serve(t, map[string]http.HandlerFunc{
		"/":      testenv.HTML(`<button>Outer</button><iframe src=/inner></iframe>`),
		"/inner": testenv.HTML(redrawPage),
	}))
	r.tab = outer
	in := func(script string) { testenv.Evaluate[bool](t, d, "frames[0].eval("+strconv.Quote(script)+"), true") }
	in(r.drawing("replace", r.rows))
	r.refs()
	refs = r.refs() // the rows are recorded at the second read at the latest
	in(r.drawing("replace", r.rows))
	if again := r.refs(); !slices.Equal(again, refs) {
		t.Errorf("in a frame: refs %v, then %v", refs, again)
	}
	if _, err := turn(t, d, outer, clickAt(&domtapv1.Target{Ref: proto.Uint32(refs[2])})); err != nil {
		t.Errorf("in a frame: %v", err)
	}
	if clicked := testenv.Evaluate[[]int](t, d, "frames[0].eval('clicks')"); !slices.Equal(clicked, []int{r.rows[2].id}) {
		t.Errorf("in a frame: clicked %v", clicked)
	}
}

// TestARedrawDuringThePressReachesNothingElse re-renders the list at each pointer event, and continuously.
func TestARedrawDuringThePressReachesNothingElse(t *testing.T) {
	r := newRedrawRig(t, testenv.Apart(t), "Ann", "Bob", "Cid", "Dan")
	reached := 0
	for _, when := range []string{"pointerover", "pointermove", "pointerdown", "mousedown", "mouseup", "click", "interval"} {
		rng := rand.New(rand.NewPCG(1, 0))
		listen := fmt.Sprintf("globalThis.again = () => %s, addEventListener(%q, again, true), true", r.drawing("replace", r.rows), when)
		if when == "interval" {
			listen = fmt.Sprintf("globalThis.timer = setInterval(() => %s, 15), true", r.drawing("replace", r.rows))
		}
		testenv.Evaluate[bool](t, r.d, listen)
		for range 3 {
			refs := r.refs()
			i := rng.IntN(len(refs))
			clicked, err := r.click(refs[i])
			if len(clicked) > 1 || len(clicked) == 1 && clicked[0] != r.rows[i].id || err == nil && when == "interval" && len(clicked) == 0 {
				t.Errorf("%s: ref %d of %v clicked %v, %v", when, refs[i], r.rows[i], clicked, err)
			}
			reached += len(clicked)
		}
		testenv.Evaluate[bool](t, r.d, fmt.Sprintf("removeEventListener(%q, globalThis.again, true), clearInterval(globalThis.timer), clicks.length = 0, true", when))
	}
	if reached == 0 { // the number varies with the machine
		t.Error("no click reached its record")
	}
}

// TestRandomRedrawsNeverChangeTheMeaningOfARef re-renders a list in random ways, with and without a client that watches the page. No ref
// may belong to two elements, and no ref may ever pass to another record.
func TestRandomRedrawsNeverChangeTheMeaningOfARef(t *testing.T) {
	d := testenv.Apart(t)
	for _, watched := range []bool{false, true} {
		r := newRedrawRig(t, d, "Ann", "Bob", "Cid")
		if watched {
			stream, err := d.Dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: r.tab})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for err := error(nil); err == nil; _, err = stream.Recv() {
				}
			}()
		}
		rng := rand.New(rand.NewPCG(7, 7))
		ways := []string{"replace", "empty", "last", "whole", "both", "late"}
		owners, kept := map[uint32]int{}, 0
		for step := range testenv.Size(60, 600) {
			var shown []string
			for range 1 + rng.IntN(2) {
				rows := slices.Clone(r.rows)
				switch rng.IntN(7) {
				case 0:
					rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				case 1:
					if len(rows) > 1 {
						rows = slices.Delete(rows, 0, 1+rng.IntN(len(rows)-1))
					}
				case 2, 3:
					rows = slices.Insert(rows, rng.IntN(len(rows)+1), r.named([]string{"Ann", "Bob", "Cid", fmt.Sprint("New ", step)}[rng.IntN(4)])...)
				case 4:
					rows = r.named("Ann", fmt.Sprint("Other ", step), fmt.Sprint("Another ", step))
				}
				if len(rows) > 12 {
					rows = rows[:4]
				}
				way := ways[rng.IntN(len(ways))]
				shown = append(shown, fmt.Sprint(way, rows))
				r.draw(way, rows)
			}
			seen := map[uint32]bool{}
			for i, ref := range r.refs() {
				owner, known := owners[ref]
				if seen[ref] || known && owner != r.rows[i].id {
					t.Fatalf("watched %t, step %d: ref %d was of record %d and is of %v after %v", watched, step, ref, owner, r.rows[i], shown)
				}
				if known {
					kept++
				}
				seen[ref], owners[ref] = true, r.rows[i].id
			}
		}
		if kept < 40 {
			t.Errorf("watched %t: only %d refs were kept", watched, kept)
		}
	}
}
