package model_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/dom"
)

// world is a scripted page, the model that follows it, and the test's knowledge of both.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	page  *actortest.Page
	model *model.Model
	// refs holds the observed ref of each node, and owners the node of each ref.
	refs   map[*actortest.Node]dom.Ref
	owners map[dom.Ref]*actortest.Node
	main   *actortest.Frame
	// away holds nodes that were removed and may come back.
	away   []taken
	frames int
	texts  int
}

func newWorld(t *testing.T, seed uint64) *world {
	b := actortest.NewBrowser()
	page, err := b.NewPage(t.Context(), driver.PageOptions{Viewport: dom.Box{Width: 300, Height: 200}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), page: page.(*actortest.Page), model: model.New(),
		refs: map[*actortest.Node]dom.Ref{}, owners: map[dom.Ref]*actortest.Node{},
	}
	w.page.Update(func(f *actortest.Frame) { w.main = f })
	return w
}

// list is a list of nodes in a document.
type list struct {
	frame *actortest.Frame
	nodes *[]*actortest.Node
}

// nodes returns all nodes of the page, and the lists that contain them.
func (w *world) nodes() (all []*actortest.Node, lists []list) {
	var walk func(l list)
	walk = func(l list) {
		lists = append(lists, l)
		for _, n := range *l.nodes {
			all = append(all, n)
			walk(list{l.frame, &n.Children})
			if n.Holds != nil {
				walk(list{n.Holds, &n.Holds.Body})
			}
		}
	}
	walk(list{w.main, &w.main.Body})
	return all, lists
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// taken is a node that was removed from a document.
type taken struct {
	node  *actortest.Node
	frame *actortest.Frame
}

// take removes a random node from a random list.
func (w *world) take() (taken, bool) {
	_, lists := w.nodes()
	l := pick(w.rng, lists)
	if len(*l.nodes) == 0 {
		return taken{}, false
	}
	i := w.rng.IntN(len(*l.nodes))
	n := (*l.nodes)[i]
	*l.nodes = slices.Delete(*l.nodes, i, i+1)
	return taken{n, l.frame}, true
}

// put inserts a node somewhere. A removed node goes back to its document, if that still exists.
func (w *world) put(n taken) bool {
	_, lists := w.nodes()
	lists = slices.DeleteFunc(lists, func(l list) bool { return n.frame != nil && l.frame != n.frame })
	if len(lists) == 0 {
		return false
	}
	l := pick(w.rng, lists)
	*l.nodes = slices.Insert(*l.nodes, w.rng.IntN(len(*l.nodes)+1), n.node)
	return true
}

func (w *world) fresh() *actortest.Node {
	w.texts++
	text := fmt.Sprint("n", w.texts)
	if w.rng.IntN(8) == 0 && w.frames < 30 {
		w.frames++
		f := &actortest.Frame{ID: dom.FrameID(fmt.Sprint("f", w.frames)), Body: []*actortest.Node{actortest.Button(text + "-in")}}
		f.Scroll = dom.Box{Width: 100, Height: 100}
		return actortest.Iframe(text, f)
	}
	n := actortest.Button(text)
	for range w.rng.IntN(3) {
		w.texts++
		n.Children = append(n.Children, actortest.Link(fmt.Sprint("n", w.texts), "/"))
	}
	return n
}

// mutate changes the page at random.
func (w *world) mutate() {
	all, _ := w.nodes()
	switch k := w.rng.IntN(10); {
	case k < 3 || len(all) == 0:
		w.put(taken{node: w.fresh()})
	case k < 5:
		if n, ok := w.take(); ok {
			w.away = append(w.away, n)
		}
	case k < 6 && len(w.away) > 0:
		i := w.rng.IntN(len(w.away))
		if w.put(w.away[i]) {
			w.away = slices.Delete(w.away, i, i+1)
		}
	case k < 8:
		if n, ok := w.take(); ok {
			w.put(n)
		}
	case k < 9:
		n := pick(w.rng, all)
		n.Value = fmt.Sprint("v", w.rng.IntN(5))
		n.Off = n.Holds == nil && w.rng.IntN(4) == 0
	default:
		n := pick(w.rng, all)
		n.Box = dom.Box{X: w.rng.Float64() * 500, Y: w.rng.Float64() * 500, Width: 10, Height: 10}
		w.main.Scroll.Y = w.rng.Float64() * 300
	}
}

// read reads the page into the model and returns the elements.
func (w *world) read(geometry bool) []*dom.Element {
	req := driver.ReadRequest{Geometry: geometry}
	acks := w.model.Pending()
	for _, a := range acks {
		req.Acks = append(req.Acks, driver.Ack(a))
	}
	out, err := w.page.Read(w.t.Context(), req)
	if err != nil || len(out.Unacknowledged) > 0 {
		w.t.Fatalf("read: %v, %v", out.Unacknowledged, err)
	}
	for len(w.page.Events()) > 0 {
		switch e := (<-w.page.Events()).(type) {
		case driver.Committed:
			if !e.Same {
				w.model.Commit(e.Frame, e.Document)
				w.forget(e.Frame)
			}
		case driver.FrameGone:
			w.model.Drop(e.Frame)
		}
	}
	w.model.Delivered(acks)
	if err := w.model.Apply(out.Patches...); err != nil {
		w.t.Fatal(err)
	}
	return w.model.Elements().Slice()
}

// forget treats the nodes of a newly attached frame as new.
func (w *world) forget(frame dom.FrameID) {
	_, lists := w.nodes()
	for _, l := range lists {
		if l.frame.ID == frame {
			for _, n := range *l.nodes {
				delete(w.owners, w.refs[n])
				delete(w.refs, n)
			}
		}
	}
}

// expected computes the content of the page from its tree, except for the refs.
type expected struct {
	node   *actortest.Node
	parent *actortest.Node
	depth  int
	frame  dom.FrameID
	box    dom.Box
}

func (w *world) expect() []expected {
	var out []expected
	var walk func(nodes []*actortest.Node, up expected, x, y float64)
	walk = func(nodes []*actortest.Node, up expected, x, y float64) {
		for _, n := range nodes {
			here := up
			if !n.Off {
				here = expected{node: n, parent: up.node, depth: up.depth + 1, frame: up.frame}
				here.box = n.Box
				here.box.X += x
				here.box.Y += y
				out = append(out, here)
			}
			if f := n.Holds; f != nil {
				// The frame's elements follow its host, before the host's own children.
				inner := here
				inner.frame = f.ID
				walk(f.Body, inner, here.box.X-f.Scroll.X, here.box.Y-f.Scroll.Y)
			}
			walk(n.Children, here, x, y)
		}
	}
	walk(w.main.Body, expected{depth: -1}, -w.main.Scroll.X, -w.main.Scroll.Y)
	return out
}

// check compares the elements with the content of the page.
func (w *world) check(elements []*dom.Element, layout *dom.Layout) {
	t := w.t
	want := w.expect()
	if len(elements) != len(want) {
		t.Fatalf("%d elements, want %d:\n%s", len(elements), len(want), show(elements))
	}
	for i, x := range want {
		el := elements[i]
		if ref, seen := w.refs[x.node]; seen && ref != el.Ref {
			t.Fatalf("node %s has ref %d, and had %d", x.node.Text, el.Ref, ref)
		}
		if owner := w.owners[el.Ref]; owner != nil && owner != x.node {
			t.Fatalf("ref %d is node %s's, and was %s's", el.Ref, x.node.Text, owner.Text)
		}
		w.refs[x.node], w.owners[el.Ref] = el.Ref, x.node
		parent := dom.NoRef
		if x.parent != nil {
			parent = w.refs[x.parent]
		}
		if el.Text != x.node.Text || el.Value != x.node.Value || el.Parent != parent || el.Depth != x.depth || el.Frame != x.frame {
			t.Fatalf("element %d is %+v, want %+v with parent %d\n%s", i, el, x, parent, show(elements))
		}
		if layout != nil && (layout.Boxes[i] != x.box || el.InViewport != x.box.Meets(dom.Box{Width: 300, Height: 200})) {
			t.Fatalf("element %d has box %v (in viewport: %v), want %v", i, layout.Boxes[i], el.InViewport, x.box)
		}
	}
}

func show(elements []*dom.Element) string {
	var b strings.Builder
	for _, el := range elements {
		fmt.Fprintf(&b, "%*s%d %s %q\n", 2*el.Depth, "", el.Ref, el.Text, el.Frame)
	}
	return b.String()
}

// TestModelEqualsThePage compares the model with the page through thousands of random changes: elements and frames that come, go, come
// back, move, change and scroll.
func TestModelEqualsThePage(t *testing.T) {
	seeds := uint64(10)
	if os.Getenv("DOMTAP_LONG") != "" { // make test-long; package testenv would import the whole daemon
		seeds = 48
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			var kept []kept
			for range 120 {
				w.page.Update(func(*actortest.Frame) {
					for range 1 + w.rng.IntN(6) {
						w.mutate()
					}
				})
				geometry := w.rng.IntN(3) == 0
				before := w.model.Next()
				elements := w.read(geometry)
				var layout *dom.Layout
				if geometry {
					layout = w.model.Layout()
				}
				w.check(elements, layout)
				firstSight(t, elements, before)
				kept = append(kept, keep(elements))
			}
			for i, k := range kept {
				if !slices.EqualFunc(k.elements, k.copies, func(el *dom.Element, c dom.Element) bool {
					return el.Same(&c) && el.InViewport == c.InViewport
				}) {
					t.Fatalf("what was handed out after step %d was written to later", i)
				}
			}
			for _, fault := range w.page.Faults() {
				t.Error(fault)
			}
		})
	}
}

// firstSight checks that new refs are assigned in the order of the sequence.
func firstSight(t *testing.T, elements []*dom.Element, before dom.Ref) {
	next := before
	for _, el := range elements {
		if el.Ref >= before {
			if el.Ref != next {
				t.Fatalf("element %s was given ref %d, not %d\n%s", el.Text, el.Ref, next, show(elements))
			}
			next++
		}
	}
}

type kept struct {
	elements []*dom.Element
	copies   []dom.Element
}

func keep(elements []*dom.Element) kept {
	k := kept{elements: elements}
	for _, el := range elements {
		c := *el
		c.Attributes = maps.Clone(el.Attributes)
		k.copies = append(k.copies, c)
	}
	return k
}

// addOp returns an operation that adds a button after the k-th element that the patch adds, or at the start.
func addOp(text string, after int) dom.Op {
	return dom.Op{
		Kind: dom.OpAdd, After: dom.Place{Ref: dom.NoRef, New: after}, Parent: none, Element: dom.Element{Tag: "button", Text: text},
	}
}

var none = dom.Place{Ref: dom.NoRef, New: -1}

func at(ref dom.Ref) dom.Place { return dom.Place{Ref: ref, New: -1} }

// three returns a model of a document with three buttons, refs 0 to 2, the third inside the second, and one button in frame "f", ref 3.
func three(t testing.TB) *model.Model {
	m := model.New()
	inner := addOp("c", 1)
	inner.Parent = dom.Place{New: 1}
	err := m.Apply(
		dom.Patch{Document: "d", Sequence: 1, Full: true, Ops: []dom.Op{addOp("a", -1), addOp("b", 0), inner}},
		dom.Patch{Frame: "f", Document: "e", Sequence: 1, Full: true, Ops: []dom.Op{addOp("x", -1)}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if acks := m.Pending(); fmt.Sprint(acks) != "[{ d 1 [0 1 2]} {f e 1 [3]}]" {
		t.Fatalf("to acknowledge: %v", acks)
	}
	m.Delivered(m.Pending())
	return m
}

// TestStructureForContextsGetsTheLastRefs applies a patch with structural elements that were not requested. The refs must be as if these
// had been read later.
func TestStructureForContextsGetsTheLastRefs(t *testing.T) {
	structural := func(text string, after int) dom.Op {
		op := addOp(text, after)
		op.Element.Kind = dom.Structural
		return op
	}
	for _, contexts := range []bool{false, true} {
		m := model.New()
		host := addOp("host", 1)
		host.Mask, host.Element.Kind, host.Element.Child = dom.AllFields, dom.FrameHost, "f"
		err := m.Apply(
			dom.Patch{Document: "d", Sequence: 1, Full: true, Contexts: contexts, Ops: []dom.Op{
				structural("h", -1), addOp("a", 0), host, structural("p", 2), addOp("b", 3),
			}},
			dom.Patch{Frame: "f", Document: "e", Sequence: 1, Full: true, Ops: []dom.Op{structural("i", -1), addOp("x", 0)}},
		)
		if err != nil {
			t.Fatal(err)
		}
		elements, acks := "0 h\n1 a\n2 host\n3 i\n4 x\n5 p\n6 b\n", "[{ d 1 [0 1 2 5 6]} {f e 1 [3 4]}]"
		if contexts {
			elements, acks = "5 h\n0 a\n1 host\n2 i\n3 x\n6 p\n4 b\n", "[{ d 1 [0 1 4 5 6]} {f e 1 [2 3]}]"
		}
		got := ""
		for e := range m.Elements().All() {
			got += fmt.Sprintln(e.Ref, e.Text)
		}
		if got != elements || fmt.Sprint(m.Pending()) != acks {
			t.Errorf("contexts=%v: acknowledged %v, elements\n%s", contexts, m.Pending(), got)
		}
		m.Delivered(m.Pending())
		if err := m.Apply(dom.Patch{Document: "d", Sequence: 2, Ops: []dom.Op{structural("new", -1), addOp("c", 0)}}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Pending()); got != "[{ d 2 [7 8]}]" {
			t.Errorf("contexts=%v: then acknowledged %v", contexts, got)
		}
		sound(t, m)
	}
}

func TestModelRefusesPatchesThatMakeNoSense(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	nan := dom.Box{X: nan()}
	many := map[string]string{}
	for i := range 100 {
		many[fmt.Sprint(i)] = ""
	}
	ops := map[string][]dom.Op{
		"remove what is not there":    {{Kind: dom.OpRemove, Ref: 7}},
		"remove another frame's":      {{Kind: dom.OpRemove, Ref: 3}},
		"remove twice":                {{Kind: dom.OpRemove, Ref: 0}, {Kind: dom.OpRemove, Ref: 0}},
		"remove a parent alone":       {{Kind: dom.OpRemove, Ref: 1}},
		"change what is not there":    {{Kind: dom.OpChange, Ref: 7, Mask: dom.FieldText}},
		"move what is not there":      {{Kind: dom.OpMove, Ref: 7, After: none}},
		"move behind itself":          {{Kind: dom.OpMove, Ref: 0, After: at(0)}},
		"move behind another frame's": {{Kind: dom.OpMove, Ref: 0, After: at(3)}},
		"child before its parent":     {{Kind: dom.OpMove, Ref: 2, After: none}},
		"parent behind its child":     {{Kind: dom.OpMove, Ref: 1, After: at(2)}},
		"parent of itself":            {{Kind: dom.OpChange, Ref: 0, Mask: dom.FieldParent, Parent: at(0)}},
		"parents in a ring":           {{Kind: dom.OpChange, Ref: 1, Mask: dom.FieldParent, Parent: at(2)}},
		"parent of another frame":     {{Kind: dom.OpChange, Ref: 0, Mask: dom.FieldParent, Parent: at(3)}},
		"restore what was never":      {{Kind: dom.OpRestore, Ref: 99, After: none, Parent: none}},
		"restore what is there":       {{Kind: dom.OpRestore, Ref: 0, After: none, Parent: none}},
		"restore another frame's":     {{Kind: dom.OpRestore, Ref: 3, After: none, Parent: none}},
		"add behind what is not new":  {addOp("n", 3)},
		"unknown operation":           {{Kind: 99, Ref: 0}},
		"unknown kind":                {{Kind: dom.OpChange, Ref: 0, Mask: dom.FieldKind, Element: dom.Element{Kind: 9}}},
		"unknown state":               {{Kind: dom.OpChange, Ref: 0, Element: dom.Element{States: dom.States{Checked: 9}}}},
		"long text":                   {{Kind: dom.OpChange, Ref: 0, Element: dom.Element{Text: long}}},
		"many attributes":             {{Kind: dom.OpChange, Ref: 0, Element: dom.Element{Attributes: many}}},
		"long attribute":              {{Kind: dom.OpChange, Ref: 0, Element: dom.Element{Attributes: map[string]string{"id": long}}}},
	}
	patches := map[string]dom.Patch{
		"a gap":             {Document: "d", Sequence: 3},
		"a repetition":      {Document: "d", Sequence: 1},
		"scroll is NaN":     {Document: "d", Sequence: 2, Measured: true, Scroll: nan},
		"box is NaN":        {Document: "d", Sequence: 2, Measured: true, Boxes: []dom.PlacedBox{{Place: at(0), Box: nan}}},
		"box of nobody":     {Document: "d", Sequence: 2, Measured: true, Boxes: []dom.PlacedBox{{Place: none}}},
		"box of another":    {Document: "d", Sequence: 2, Measured: true, Boxes: []dom.PlacedBox{{Place: at(3)}}},
		"full, then broken": {Document: "d", Sequence: 9, Full: true, Ops: []dom.Op{addOp("n", -1), addOp("m", 7)}},
	}
	for name, list := range ops {
		patches[name] = dom.Patch{Document: "d", Sequence: 2, Ops: list}
	}
	for name, p := range patches {
		t.Run(name, func(t *testing.T) {
			m := three(t)
			m.Elements()
			err := m.Apply(p)
			acks := m.Pending()
			if err == nil || len(acks) != 0 || !m.Broken("") {
				t.Fatalf("acks %v, error %v, broken %v", acks, err, m.Broken(""))
			}
			if got := show(m.Elements().Slice()); got != "3 x \"f\"\n" {
				t.Errorf("elements are\n%s", got)
			}
			if err := m.Apply(dom.Patch{Document: "d", Sequence: 2}); err != nil || m.Pending() != nil {
				t.Errorf("a broken document takes a patch: %v, %v", m.Pending(), err)
			}
			restored := addOp("b", -1)
			restored.Kind, restored.Ref = dom.OpRestore, 1
			if err := m.Apply(dom.Patch{Document: "d", Sequence: 40, Full: true, Ops: []dom.Op{restored}}); err != nil {
				t.Fatal(err)
			}
			if got := show(m.Elements().Slice()); got != "1 b \"\"\n3 x \"f\"\n" {
				t.Errorf("after a full patch elements are\n%s", got)
			}
			sound(t, m)
		})
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestModelIgnoresDocumentsThatAreGone(t *testing.T) {
	m := three(t)
	m.Commit("", "d2")
	if m.Elements().Len() != 0 {
		t.Fatal("a new main document has elements")
	}
	for _, p := range []dom.Patch{
		{Document: "d", Sequence: 2, Ops: []dom.Op{addOp("late", -1)}},
		{Document: "d", Sequence: 2, Full: true, Ops: []dom.Op{addOp("late", -1)}},
		{Frame: "f", Document: "e", Sequence: 2, Full: true, Ops: []dom.Op{addOp("late", -1)}},
	} {
		if err := m.Apply(p); m.Pending() != nil || err != nil {
			t.Errorf("%v, %v", m.Pending(), err)
		}
	}
	if m.Elements().Len() != 0 || m.Document("") != "d2" {
		t.Error("a late patch was applied")
	}
	// The browser shows the old document again, from its cache. Its nodes still have their refs.
	m.Commit("", "d")
	back := addOp("b", -1)
	back.Kind, back.Ref = dom.OpRestore, 1
	err := m.Apply(dom.Patch{Document: "d", Sequence: 7, Full: true, Ops: []dom.Op{back, addOp("new", -1)}})
	if acks := m.Pending(); err != nil || fmt.Sprint(acks) != "[{ d 7 [4]}]" {
		t.Errorf("%v, %v", acks, err)
	}
	if err := m.Apply(dom.Patch{Frame: "unknown", Document: "u", Sequence: 2}); err == nil {
		t.Error("a document that starts in the middle is taken")
	}
}

func TestModelPlacesFramesWhoseHostIsNotKnown(t *testing.T) {
	m := three(t)
	host := addOp("host", -1)
	host.Element.Kind, host.Element.Child = dom.FrameHost, "f"
	ring := addOp("ring", 0)
	ring.Element.Kind, ring.Element.Child = dom.FrameHost, "g"
	// Frame g is seen first, and frame h holds it. Frame h also holds itself. The main document holds neither.
	self := addOp("self", -1)
	self.Element.Kind, self.Element.Child = dom.FrameHost, "h"
	err := m.Apply(
		dom.Patch{Frame: "g", Document: "g1", Sequence: 1, Full: true, Ops: []dom.Op{addOp("in g", -1)}},
		dom.Patch{Frame: "h", Document: "h1", Sequence: 1, Full: true, Ops: []dom.Op{self, ring}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := "0 a \"\"\n1 b \"\"\n  2 c \"\"\n3 x \"f\"\n4 self \"h\"\n5 ring \"h\"\n  6 in g \"g\"\n"
	if got := show(m.Elements().Slice()); got != want {
		t.Errorf("elements are\n%swant\n%s", got, want)
	}
	host.After = at(0)
	if err := m.Apply(dom.Patch{Document: "d", Sequence: 2, Ops: []dom.Op{host}}); err != nil {
		t.Fatal(err)
	}
	want = "0 a \"\"\n7 host \"\"\n  3 x \"f\"\n1 b \"\"\n  2 c \"\"\n4 self \"h\"\n5 ring \"h\"\n  6 in g \"g\"\n"
	if got := show(m.Elements().Slice()); got != want {
		t.Errorf("elements are\n%swant\n%s", got, want)
	}
	m.Drop("h")
	sound(t, m)
}

// Words may change places after the beginning of a text. Its beginning and length stay the same, so no client is notified, but elements are
// named by their whole text.
func TestModelTakesATextWhoseBeginningAndLengthStay(t *testing.T) {
	m := three(t)
	for n, whole := range []string{"a go buy", "a buy go"} {
		p := dom.Patch{Document: "d", Sequence: uint64(2 + n), Ops: []dom.Op{{Kind: dom.OpChange, Ref: 0, Mask: dom.FieldWhole, Element: dom.Element{Whole: whole, Left: 4}}}}
		if err := m.Apply(p); err != nil {
			t.Fatal(err)
		}
		if got := m.Elements().Slice()[0].WholeText(); got != whole {
			t.Errorf("the text is %q, want %q", got, whole)
		}
	}
}

func TestModelHandsOutTheSameSequenceWhenNothingChanged(t *testing.T) {
	m := three(t)
	first := m.Elements()
	same := func(name string, p dom.Patch) {
		if err := m.Apply(p); err != nil {
			t.Fatal(err)
		}
		if now := m.Elements(); now != first {
			t.Errorf("%s made a new sequence", name)
		}
	}
	same("an empty patch", dom.Patch{Document: "d", Sequence: 2})
	same("a change to the same text", dom.Patch{Document: "d", Sequence: 3, Ops: []dom.Op{{Kind: dom.OpChange, Ref: 0, Mask: dom.FieldText, Element: dom.Element{Text: "a"}}}})
	same("a move to the same place", dom.Patch{Document: "d", Sequence: 4, Ops: []dom.Op{{Kind: dom.OpMove, Ref: 1, After: at(0)}}})
	restored := func(ref dom.Ref, text string, after, parent dom.Place) dom.Op {
		return dom.Op{Kind: dom.OpRestore, Ref: ref, After: after, Parent: parent, Element: dom.Element{Tag: "button", Text: text}}
	}
	same("a full patch of the same", dom.Patch{Document: "d", Sequence: 1, Full: true, Ops: []dom.Op{
		restored(0, "a", none, none), restored(1, "b", at(0), none), restored(2, "c", at(1), at(1)),
	}})
}

// sound checks the invariants of every model.
func sound(t testing.TB, m *model.Model) {
	elements := m.Elements().Slice()
	if m.Anew() != m.Elements() {
		t.Fatal("put together anew, the sequence is another")
	}
	at := map[dom.Ref]*dom.Element{}
	for i, el := range elements {
		if el == nil || el.Ref >= m.Next() || at[el.Ref] != nil {
			t.Fatalf("element %d is %+v, next ref %d", i, el, m.Next())
		}
		depth := 0
		if el.Parent != dom.NoRef {
			parent := at[el.Parent]
			if parent == nil {
				t.Fatalf("element %d has parent %d, which does not stand before it", i, el.Parent)
			}
			if parent.Frame != el.Frame && parent.Child != el.Frame {
				t.Fatalf("element %d of frame %q has a parent in frame %q", i, el.Frame, parent.Frame)
			}
			depth = parent.Depth + 1
		}
		if el.Depth != depth {
			t.Fatalf("element %d has depth %d, want %d", i, el.Depth, depth)
		}
		if frame, _, ok := m.Where(el.Ref); !ok || frame != el.Frame {
			t.Fatalf("element %d is in frame %q, the model says %q", i, el.Frame, frame)
		}
		at[el.Ref] = el
	}
	for ref := range m.Next() {
		if _, _, ok := m.Where(ref); ok != (at[ref] != nil) {
			t.Fatalf("ref %d: known is %v", ref, ok)
		}
	}
	if l := m.Layout(); l != nil && len(l.Boxes) != len(elements) {
		t.Fatalf("%d boxes for %d elements", len(l.Boxes), len(elements))
	}
}
