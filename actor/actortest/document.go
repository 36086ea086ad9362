package actortest

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Node is an element of a scripted document. A node keeps its identity, and so its ref, as long as the same *Node is used. Modify nodes
// only while building them or inside Page.Update.
type Node struct {
	// Element is reported by the observer, except for Ref, Parent, Depth and Frame.
	dom.Element
	// Box is the position of the node in its document, in CSS pixels.
	Box      dom.Box
	Children []*Node
	// Holds is the document of a node whose Kind is dom.FrameHost.
	Holds *Frame
	// Act is called when the node is acted on, without the page's lock, so it may call any method of the page. If nil, Fill replaces the
	// value, Type appends to it, and other actions do nothing.
	Act func(p *Page, a driver.Action) error
	// Off excludes the node from the observer's reports, but not its children.
	Off bool

	ref   dom.Ref
	known bool
	// meant reports whether a target has been resolved to the node.
	meant bool
}

// El creates an interactive node.
func El(tag, role, text string, children ...*Node) *Node {
	return &Node{Element: dom.Element{Tag: tag, Role: role, Text: text}, Children: children}
}

// Button creates a button.
func Button(text string) *Node { return El("button", "button", text) }

// Link creates a link.
func Link(text, href string) *Node {
	n := El("a", "link", text)
	n.Href = href
	return n
}

// Textbox creates a text input with a label.
func Textbox(label, value string) *Node {
	n := El("input", "textbox", label)
	n.Type, n.Value = "text", value
	return n
}

// Heading creates a structural node, which is reported only after a reader has requested the structure.
func Heading(level int, text string, children ...*Node) *Node {
	n := El("h"+strconv.Itoa(level), "heading", text, children...)
	n.Kind, n.Level = dom.Structural, level
	return n
}

// Iframe creates a node that holds another document.
func Iframe(text string, f *Frame) *Node {
	n := El("iframe", "", text)
	n.Kind, n.Holds = dom.FrameHost, f
	return n
}

// Frame is a document in a frame. The ID of the main document is empty; other frames need unique IDs.
type Frame struct {
	ID    dom.FrameID
	URL   string
	Title string
	Body  []*Node
	// Scroll is the scroll position and the size of the document's viewport.
	Scroll dom.Box
	// HTML is the document's content in Page.Markup.
	HTML string

	document string
	// seq counts the patches. waiting reports whether the last patch is not acknowledged yet.
	seq     uint64
	waiting bool
	pending []*Node
	// shown and the fields below hold the last reported state.
	shown      []*Node
	state      map[*Node]reported
	lastURL    string
	lastTitle  string
	lastScroll dom.Box
	// reported is the last report on selectors.
	reported string
}

// reported is a node's state in the last patch.
type reported struct {
	el     dom.Element
	parent *Node
	box    dom.Box
	boxed  bool
}

// options accumulates what readers have requested from the observer.
type options struct {
	structural bool
	attributes []string
}

// present returns the nodes that a document shows now, in document order, with their parents.
func (f *Frame) present(o options) ([]*Node, map[*Node]*Node) {
	var flat []*Node
	parents := map[*Node]*Node{}
	var walk func(nodes []*Node, parent *Node)
	walk = func(nodes []*Node, parent *Node) {
		for _, n := range nodes {
			up := parent
			if !n.Off && (n.Kind != dom.Structural || o.structural || n.meant) {
				flat = append(flat, n)
				parents[n] = parent
				up = n
			}
			walk(n.Children, up)
		}
	}
	walk(f.Body, nil)
	return flat, parents
}

// fields returns the fields of a node that the observer reports.
func (n *Node) fields(o options) dom.Element {
	el := n.Element
	el.Ref, el.Parent, el.Depth, el.Frame, el.InViewport = 0, 0, 0, "", false
	el.Attributes = nil
	for name, value := range n.Attributes {
		if slices.Contains(o.attributes, name) {
			if el.Attributes == nil {
				el.Attributes = map[string]string{}
			}
			el.Attributes[name] = value
		}
	}
	if n.Holds != nil {
		el.Child = n.Holds.ID
	}
	return el
}

// restart makes the next patch a full one.
func (f *Frame) restart() {
	f.shown, f.state, f.waiting, f.pending = nil, nil, false, nil
}

// patch creates the patch to the current state of the document. It returns false if nothing changed.
func (f *Frame) patch(o options, measure bool) (dom.Patch, bool) {
	full := f.state == nil
	if full {
		f.state = map[*Node]reported{}
	}
	p := dom.Patch{
		Frame: f.ID, Document: f.document, Full: full, URL: f.URL, Title: f.Title, PageTime: time.Now(), Took: time.Microsecond,
	}
	added := f.operations(&p, o)
	if measure {
		f.measure(&p, added)
	}
	same := f.URL == f.lastURL && f.Title == f.lastTitle
	if len(p.Ops) == 0 && !full && !measure && same {
		return dom.Patch{}, false
	}
	f.lastURL, f.lastTitle = f.URL, f.Title
	f.seq++
	p.Sequence = f.seq
	f.waiting, f.pending = true, added
	return p, true
}

// operations fills in the patch's operations and returns the added nodes.
func (f *Frame) operations(p *dom.Patch, o options) []*Node {
	flat, parents := f.present(o)
	work := make([]*Node, 0, len(flat))
	for _, n := range f.shown {
		if _, ok := parents[n]; ok {
			work = append(work, n)
			continue
		}
		p.Ops = append(p.Ops, dom.Op{Kind: dom.OpRemove, Ref: n.ref})
		delete(f.state, n)
	}
	e := edit{patch: p, index: map[*Node]int{}, work: work}
	for i, n := range flat {
		after := (*Node)(nil)
		if i > 0 {
			after = flat[i-1]
		}
		was, shown := f.state[n]
		now := reported{el: n.fields(o), parent: parents[n], box: was.box, boxed: was.boxed}
		e.node(i, n, after, now, was, shown)
		f.state[n] = now
	}
	f.shown = flat
	return e.added
}

// edit converts one list of nodes into another, operation by operation.
type edit struct {
	patch *dom.Patch
	index map[*Node]int
	added []*Node
	work  []*Node
}

func (e *edit) place(n *Node) dom.Place {
	if n == nil {
		return dom.Place{Ref: dom.NoRef, New: -1}
	}
	if i, ok := e.index[n]; ok {
		return dom.Place{Ref: dom.NoRef, New: i}
	}
	return dom.Place{Ref: n.ref, New: -1}
}

func (e *edit) node(i int, n, after *Node, now, was reported, shown bool) {
	op := dom.Op{Ref: n.ref, After: e.place(after), Mask: dom.AllFields, Element: now.el}
	if !shown {
		op.Parent = e.place(now.parent)
		op.Kind = dom.OpRestore
		if !n.known {
			op.Kind, op.Ref = dom.OpAdd, dom.NoRef
			e.index[n] = len(e.added)
			e.added = append(e.added, n)
		}
		e.patch.Ops = append(e.patch.Ops, op)
		e.work = slices.Insert(e.work, i, n)
		return
	}
	if e.work[i] != n {
		j := i + slices.Index(e.work[i:], n)
		e.work = slices.Insert(slices.Delete(e.work, j, j+1), i, n)
		e.patch.Ops = append(e.patch.Ops, dom.Op{Kind: dom.OpMove, Ref: n.ref, After: op.After})
	}
	if mask := changed(now, was); mask != 0 {
		op.Kind, op.Mask, op.Element, op.After = dom.OpChange, mask, now.el, dom.Place{}
		op.Parent = e.place(now.parent)
		e.patch.Ops = append(e.patch.Ops, op)
	}
}

// changed returns the fields that differ.
func changed(now, was reported) dom.Field {
	a, b := now.el, was.el
	var m dom.Field
	for field, differs := range map[dom.Field]bool{
		dom.FieldKind: a.Kind != b.Kind, dom.FieldParent: now.parent != was.parent,
		dom.FieldTag: a.Tag != b.Tag, dom.FieldRole: a.Role != b.Role, dom.FieldText: a.Text != b.Text,
		dom.FieldWhole: a.Whole != b.Whole, dom.FieldHints: a.Hints != b.Hints, dom.FieldJoin: a.Join != b.Join,
		dom.FieldHref: a.Href != b.Href, dom.FieldName: a.Name != b.Name, dom.FieldType: a.Type != b.Type,
		dom.FieldValue: a.Value != b.Value, dom.FieldPlaceholder: a.Placeholder != b.Placeholder,
		dom.FieldLevel: a.Level != b.Level, dom.FieldStates: a.States != b.States,
		dom.FieldChild: a.Child != b.Child, dom.FieldAttributes: !maps.Equal(a.Attributes, b.Attributes),
	} {
		if differs {
			m |= field
		}
	}
	return m
}

// measure adds the boxes that have changed since the last report.
func (f *Frame) measure(p *dom.Patch, added []*Node) {
	p.Measured, p.Scroll = true, f.Scroll
	f.lastScroll = f.Scroll
	for _, n := range f.shown {
		s := f.state[n]
		if s.boxed && s.box == n.Box {
			continue
		}
		place := dom.Place{Ref: n.ref, New: slices.Index(added, n)}
		p.Boxes = append(p.Boxes, dom.PlacedBox{Place: place, Box: n.Box})
		s.box, s.boxed = n.Box, true
		f.state[n] = s
	}
}

// moved reports whether a box has changed since the last report.
func (f *Frame) moved() bool {
	if f.Scroll != f.lastScroll {
		return true
	}
	for _, n := range f.shown {
		if s := f.state[n]; !s.boxed || s.box != n.Box {
			return true
		}
	}
	return false
}

// acknowledge assigns the refs to the added nodes. It returns a description of the fault in the acknowledgement, or an empty string.
func (f *Frame) acknowledge(a driver.Ack) string {
	if a.Sequence != f.seq || !f.waiting {
		return "" // late or repeated
	}
	if len(a.Refs) != len(f.pending) {
		return "an acknowledgement with " + strconv.Itoa(len(a.Refs)) + " refs for " + strconv.Itoa(len(f.pending)) + " added elements"
	}
	for i, n := range f.pending {
		if n.known {
			return "a second ref for one node"
		}
		n.ref, n.known = a.Refs[i], true
	}
	f.waiting, f.pending = false, nil
	return ""
}
