package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/domtap/domtap/dom"
)

// Limits of a valid patch. The observer limits its strings to 2,048 characters, and its pages to far fewer elements.
const (
	maxElements   = 1 << 20
	maxOps        = 1 << 21
	maxString     = 4*2048 + 16
	maxWhole      = 4*10_000 + 16
	maxAttributes = 64
)

// edit applies one patch to one document.
type edit struct {
	model *Model
	doc   *document
	// added holds the nodes of the OpAdd operations so far.
	added []*node
	// removed holds the removed nodes, some of which may have been restored.
	removed []*node
}

// apply applies a patch. After an error the document is unusable.
func (e *edit) apply(p *dom.Patch) error {
	if len(p.Ops) > maxOps || len(p.Boxes) > maxOps {
		return fmt.Errorf("%d operations and %d boxes, limit %d each", len(p.Ops), len(p.Boxes), maxOps)
	}
	d := e.doc
	if p.Full {
		e.clear()
	}
	d.contexts = p.Contexts
	for i := range p.Ops {
		if err := e.op(&p.Ops[i]); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	if err := e.finish(); err != nil {
		return err
	}
	if err := e.measure(p); err != nil {
		return err
	}
	d.lastPatch, d.broken, d.title = p.Sequence, false, p.Title
	e.model.pageTime = p.PageTime
	return nil
}

// clear removes all nodes, but keeps them in removed, because a full patch may restore them.
func (e *edit) clear() {
	d := e.doc
	for n := d.list.next; n != &d.list; n = n.next {
		n.present, n.parent, n.kids = false, nil, 0
		e.removed = append(e.removed, n)
	}
	d.list.prev, d.list.next = &d.list, &d.list
	e.model.sequence.invalidate()
}

func (e *edit) op(op *dom.Op) error {
	if err := check(op); err != nil {
		return err
	}
	switch op.Kind {
	case dom.OpAdd, dom.OpRestore:
		return e.insert(op)
	case dom.OpMove:
		return e.move(op)
	case dom.OpChange:
		n, err := e.find(op.Ref)
		if err != nil {
			return err
		}
		return e.change(n, op, op.Mask)
	case dom.OpRemove:
		n, err := e.find(op.Ref)
		if err != nil {
			return err
		}
		e.unlink(n)
		e.parent(n, nil)
		n.present = false
		e.removed = append(e.removed, n)
		return nil
	}
	return fmt.Errorf("unknown kind %d", op.Kind)
}

// find returns the node of a present element of the document.
func (e *edit) find(ref dom.Ref) (*node, error) {
	n := e.model.refs.find(ref)
	if n == nil || !n.present || n.doc != e.doc {
		return nil, fmt.Errorf("element %d is not in the document", ref)
	}
	return n, nil
}

// resolve returns the node at a place, or nil for the empty place.
func (e *edit) resolve(p dom.Place) (*node, error) {
	if p.New >= 0 {
		if p.New >= len(e.added) {
			return nil, fmt.Errorf("reference to addition %d, which has not been applied", p.New)
		}
		return e.added[p.New], nil
	}
	if p.Ref == dom.NoRef {
		return nil, nil
	}
	return e.find(p.Ref)
}

func (e *edit) insert(op *dom.Op) error {
	after, err := e.resolve(op.After)
	if err != nil {
		return fmt.Errorf("place: %w", err)
	}
	if e.model.refs.full(len(e.added)) {
		return fmt.Errorf("more than %d elements", maxElements)
	}
	n, err := e.node(op)
	if err != nil {
		return err
	}
	e.link(n, after)
	n.present = true
	return e.change(n, op, dom.AllFields)
}

// node creates the node of an insertion, or returns the node that this patch has removed.
func (e *edit) node(op *dom.Op) (*node, error) {
	refs := e.model.refs
	ref := dom.NoRef
	if op.Kind == dom.OpRestore {
		ref = op.Ref
		if n := refs.find(ref); n != nil {
			if n.present || n.doc != e.doc {
				return nil, fmt.Errorf("element %d is already in a document", ref)
			}
			return n, nil
		}
		if !refs.wasGiven(ref) {
			return nil, fmt.Errorf("ref %d was never assigned", ref)
		}
	}
	n := e.model.sequence.newNode(e.doc, ref)
	if ref == dom.NoRef {
		e.added = append(e.added, n)
	} else {
		refs.restore(n)
	}
	return n, nil
}

func (e *edit) move(op *dom.Op) error {
	n, err := e.find(op.Ref)
	if err != nil {
		return err
	}
	after, err := e.resolve(op.After)
	if err != nil {
		return fmt.Errorf("place: %w", err)
	}
	if after == n {
		return fmt.Errorf("element %d would follow itself", op.Ref)
	}
	e.unlink(n)
	e.link(n, after)
	return e.change(n, op, op.Mask)
}

// link inserts a node after another, or at the start if after is nil.
func (e *edit) link(n, after *node) {
	if after == nil {
		after = &e.doc.list
	}
	n.prev, n.next = after, after.next
	n.prev.next, n.next.prev = n, n
	e.model.sequence.loosen(n, true)
}

// unlink removes a node from the list. It does not change the node's own pointers.
func (e *edit) unlink(n *node) {
	n.prev.next, n.next.prev = n.next, n.prev
	e.model.sequence.loosen(n, true)
}

// parent sets a node's parent.
func (e *edit) parent(n, parent *node) {
	if n.parent == parent {
		return
	}
	if n.parent != nil {
		n.parent.kids--
	}
	if parent != nil {
		parent.kids++
	}
	n.parent = parent
	e.model.sequence.loosen(n, false)
}

// change sets the fields in mask. The element is replaced only if a field differs.
func (e *edit) change(n *node, op *dom.Op, mask dom.Field) error {
	if mask&dom.FieldParent != 0 {
		parent, err := e.resolve(op.Parent)
		if err != nil {
			return fmt.Errorf("parent: %w", err)
		}
		e.parent(n, parent)
	}
	el := *n.el
	assign(&el, &op.Element, mask)
	if el.Same(n.el) && el.Whole == n.el.Whole && el.Join == n.el.Join { // Whole and Join are not content, but distinguish elements
		return nil
	}
	if held := n.holds(); el.Kind != n.el.Kind || el.Child != n.el.Child {
		*e.model.sequence.edit(n) = el
		if held || n.holds() {
			e.model.sequence.invalidate()
		}
		return nil
	}
	*e.model.sequence.edit(n) = el
	return nil
}

// assign copies the fields in mask.
func assign(to, from *dom.Element, mask dom.Field) {
	set(&to.Kind, from.Kind, mask&dom.FieldKind)
	set(&to.Tag, from.Tag, mask&dom.FieldTag)
	set(&to.Role, from.Role, mask&dom.FieldRole)
	set(&to.Text, from.Text, mask&dom.FieldText)
	set(&to.Href, from.Href, mask&dom.FieldHref)
	set(&to.Name, from.Name, mask&dom.FieldName)
	set(&to.Type, from.Type, mask&dom.FieldType)
	set(&to.Value, from.Value, mask&dom.FieldValue)
	set(&to.ValueLeft, from.ValueLeft, mask&dom.FieldValue)
	set(&to.Placeholder, from.Placeholder, mask&dom.FieldPlaceholder)
	set(&to.Whole, from.Whole, mask&dom.FieldWhole)
	set(&to.Hints, from.Hints, mask&dom.FieldHints)
	set(&to.Join, from.Join, mask&dom.FieldJoin)
	set(&to.Left, from.Left, mask&dom.FieldWhole)
	set(&to.Level, from.Level, mask&dom.FieldLevel)
	set(&to.States, from.States, mask&dom.FieldStates)
	set(&to.Child, from.Child, mask&dom.FieldChild)
	set(&to.Attributes, from.Attributes, mask&dom.FieldAttributes)
}

func set[T any](to *T, value T, in dom.Field) {
	if in != 0 {
		*to = value
	}
}

// finish releases the nodes that were removed for good.
func (e *edit) finish() error {
	for _, n := range e.removed {
		if n.present {
			continue
		}
		if n.kids > 0 {
			return fmt.Errorf("element %d was removed without its descendants", n.el.Ref)
		}
		e.model.refs.release(n)
	}
	return nil
}

// abandon marks the document as broken after an error.
func (e *edit) abandon() {
	for _, n := range e.removed {
		if !n.present {
			e.model.refs.release(n)
		}
	}
	e.model.fail(e.doc)
}

// acknowledge stores the refs of the added elements for the acknowledgement, unless the document is broken.
func (e *edit) acknowledge() {
	d := e.doc
	contexts := d.contexts
	d.contexts = false
	if d.broken {
		return
	}
	refs, last := make([]dom.Ref, 0, len(e.added)), []dom.Ref(nil)
	for _, n := range e.added {
		if contexts && n.isContext() {
			last = append(last, n.el.Ref)
		} else {
			refs = append(refs, n.el.Ref)
		}
	}
	refs = append(refs, last...)
	d.due = &Ack{Frame: d.frame, Document: d.id, Sequence: d.lastPatch, Refs: refs}
}

// measure applies the boxes.
func (e *edit) measure(p *dom.Patch) error {
	d := e.doc
	if !p.Measured {
		return nil
	}
	if !finite(p.Scroll) {
		return errors.New("the scroll position is not finite")
	}
	for _, b := range p.Boxes {
		n, err := e.resolve(b.Place)
		if err != nil {
			return fmt.Errorf("box: %w", err)
		}
		if n == nil || !finite(b.Box) {
			return errors.New("a box has no element or is not finite")
		}
		n.box, n.boxed, n.covered = b.Box, true, b.Covered
	}
	if len(p.Boxes) > 0 || p.Scroll != d.scroll || !d.measured {
		e.model.geometry.invalidate()
	}
	d.scroll, d.measured = p.Scroll, true
	return nil
}

func finite(b dom.Box) bool {
	for _, f := range [...]float64{b.X, b.Y, b.Width, b.Height} {
		if math.IsNaN(f) || math.Abs(f) > 1e12 {
			return false
		}
	}
	return true
}

// check rejects operations that no observer sends.
func check(op *dom.Op) error {
	el := &op.Element
	if el.Kind > dom.FrameHost {
		return fmt.Errorf("unknown element kind %d", el.Kind)
	}
	for _, s := range [...]string{
		string(el.Child), el.Tag, el.Role, el.Text, el.Href, el.Name, el.Type, el.Value, el.Placeholder,
	} {
		if len(s) > maxString {
			return errors.New("a text is too long")
		}
	}
	if len(el.Whole) > maxWhole || len(el.Hints) > maxString {
		return errors.New("a text is too long")
	}
	s := el.States
	for _, t := range [...]dom.Tri{
		s.Checked, s.Disabled, s.Expanded, s.Selected, s.Pressed, s.Required, s.Readonly, s.Focused, s.Invalid,
	} {
		if t > dom.Mixed {
			return fmt.Errorf("unknown state %d", t)
		}
	}
	if len(el.Attributes) > maxAttributes {
		return fmt.Errorf("more than %d attributes", maxAttributes)
	}
	for name, value := range el.Attributes {
		if len(name)+len(value) > maxString {
			return errors.New("an attribute is too long")
		}
	}
	return nil
}
