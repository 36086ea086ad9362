// Package model keeps the DOM of one tab: the documents of all its frames, as their observers report
// them in patches, merged into one sequence of elements.
//
// The model gives every element its ref, parent, depth and frame, and splices the elements of a frame
// right behind the element that holds the frame. Elements that it has handed out are never written
// again: a change makes a new Element for the one that changed, and all others are shared with the
// sequences handed out before, chunk by chunk. What one patch costs depends on its operations; only one that moves
// elements with others below them, or brings or takes away a document or what holds one, costs a pass over the
// sequence.
//
// Patches are untrusted input. One that makes no sense breaks its document: the document's elements
// vanish, and it is ignored until it starts anew with a full patch. Nothing a patch says can make the
// model panic, loop, or give one ref to two elements.
//
// A Model belongs to one goroutine; the slices and elements that it hands out may be read by all.
package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// MaxFrames is how many frames of a tab are followed; patches of others are refused.
const MaxFrames = 2000

// Ack gives the elements that a patch added their refs.
type Ack = driver.Ack

// Model is the DOM of one tab. The zero value is not usable; call New.
type Model struct {
	frames map[dom.FrameID]*document
	// order holds the documents by first sight of their frames.
	order []*document
	// placed holds them as they stand in the sequence, hosts before what they hold.
	placed []*document
	// nodes finds the present elements.
	nodes map[dom.Ref]*node
	next  dom.Ref
	// retired holds the names of documents that are gone, the oldest overwritten first.
	retired    [64]string
	retirement int

	// blocks are the merged document order; list is how it was handed out last, and stale says that it is
	// another now.
	blocks []*block
	list   dom.List
	stale  bool
	// scratch is memory for the next pass over all documents.
	scratch []*node
	// batch counts the hand-outs: elements made in this batch may still be written to.
	batch uint64
	// pass counts the passes over the sequence.
	pass uint64
	// structural says that the sequence is another now: by the loose nodes, or, when whole is set too, for
	// other reasons. touched holds the nodes whose elements were replaced where they stand.
	structural, whole bool
	loose             []*node
	touched           []*node
	// measured says that boxes changed since InViewport and Covered were derived from them.
	measured bool
	layout   *dom.Layout
	pageTime time.Time
}

// New returns an empty model, whose first ref is 0.
func New() *Model {
	return &Model{frames: map[dom.FrameID]*document{}, nodes: map[dom.Ref]*node{}, batch: 1}
}

// From returns an empty model whose first ref is next.
func From(next dom.Ref) *Model {
	m := New()
	m.next = next
	return m
}

// document is what one frame shows.
type document struct {
	frame dom.FrameID
	id    string
	// list is the sentinel of the ring of nodes, in document order.
	list  node
	count int
	// sequence is that of the last patch; 0: none yet.
	sequence uint64
	broken   bool
	title    string
	// due is the acknowledgement that the page was not told yet.
	due *Ack
	// scroll is the scroll position and the viewport size; measured says that they are known.
	scroll   dom.Box
	measured bool
	// host is the element that holds the frame, once the document is placed.
	host *node
	pass uint64
	// x and y lead from the document's coordinates to those of the top-level viewport.
	x, y float64
	// covered says that the host stands behind a modal, and so does all that the frame shows.
	covered bool
}

// node is an element's place in its document.
type node struct {
	prev, next *node
	doc        *document
	parent     *node
	el         *dom.Element
	// kids counts the nodes that have this one as parent.
	kids    int
	present bool
	boxed   bool
	// covered says that a modal of the document makes the element useless.
	covered bool
	// block and slot are the place in the sequence, and pass is the last pass over all documents that came by.
	block *block
	slot  int
	pass  uint64
	// unplaced says that the place is another now.
	unplaced bool
	// batch is the batch that made el.
	batch uint64
	box   dom.Box
}

func newDocument(frame dom.FrameID, id string) *document {
	d := &document{frame: frame, id: id}
	d.list.prev, d.list.next = &d.list, &d.list
	return d
}

// Document names the document that a frame shows; empty: not known.
func (m *Model) Document(frame dom.FrameID) string {
	if d := m.frames[frame]; d != nil {
		return d.id
	}
	return ""
}

// Title is what the last patch of the main document said.
func (m *Model) Title() string {
	if d := m.frames[""]; d != nil {
		return d.title
	}
	return ""
}

// PageTime is when the newest patch was made, by the page's clock.
func (m *Model) PageTime() time.Time { return m.pageTime }

// Next is the ref that will be given next; smaller ones were given before.
func (m *Model) Next() dom.Ref { return m.next }

// Broken reports whether the frame's document was given up because its patches made no sense.
func (m *Model) Broken(frame dom.FrameID) bool {
	d := m.frames[frame]
	return d != nil && d.broken
}

// BrokenFrames lists the frames whose documents were given up, until a full patch of each comes.
func (m *Model) BrokenFrames() []dom.FrameID {
	var broken []dom.FrameID
	for _, d := range m.order {
		if d.broken {
			broken = append(broken, d.frame)
		}
	}
	return broken
}

// Where returns the frame and the document in which an element stands.
func (m *Model) Where(ref dom.Ref) (frame dom.FrameID, document string, ok bool) {
	n := m.nodes[ref]
	if n == nil {
		return "", "", false
	}
	return n.doc.frame, n.doc.id, true
}

// Commit says that a frame shows another document, whose elements are not known yet. A commit of the
// main frame drops all other frames. It reports whether the document was new.
func (m *Model) Commit(frame dom.FrameID, document string) bool {
	fresh := m.commit(frame, document)
	m.build()
	return fresh
}

func (m *Model) commit(frame dom.FrameID, document string) bool {
	d := m.frames[frame]
	if d != nil && d.id == document {
		return false
	}
	if d == nil && len(m.frames) >= MaxFrames && frame != "" {
		return false
	}
	for i, id := range m.retired {
		if id == document {
			m.retired[i] = ""
		}
	}
	if frame == "" && d != nil {
		for _, other := range m.order {
			m.retire(other)
		}
		clear(m.frames)
		m.order = nil
	}
	fresh := newDocument(frame, document)
	if i := slices.Index(m.order, d); i >= 0 {
		m.retire(d)
		m.order[i] = fresh
	} else {
		m.order = append(m.order, fresh)
	}
	m.frames[frame] = fresh
	m.structural, m.whole = true, true
	return true
}

// Drop forgets a frame that is gone.
func (m *Model) Drop(frame dom.FrameID) {
	d := m.frames[frame]
	if d == nil {
		return
	}
	m.retire(d)
	delete(m.frames, frame)
	m.order = slices.DeleteFunc(m.order, func(o *document) bool { return o == d })
	m.structural, m.whole = true, true
	m.build()
}

// retire empties a document and remembers its name, so that late patches of it are recognised.
func (m *Model) retire(d *document) {
	m.empty(d)
	m.retired[m.retirement%len(m.retired)] = d.id
	m.retirement++
}

// empty takes a document's elements out of the model.
func (m *Model) empty(d *document) {
	for n := d.list.next; n != &d.list; n = n.next {
		n.present = false
		delete(m.nodes, n.el.Ref)
	}
	d.list.prev, d.list.next = &d.list, &d.list
	d.count = 0
	m.structural, m.whole = true, true
}

// fail breaks a document.
func (m *Model) fail(d *document) {
	m.empty(d)
	d.broken, d.sequence, d.due = true, 0, nil
}

// Apply applies patches that belong together, and gives refs to the elements that they add, in the
// order of the merged sequence; Pending tells what to acknowledge then. The error joins what was wrong
// with patches that were refused; the others were applied. Patches of documents that are gone are
// ignored.
func (m *Model) Apply(patches ...dom.Patch) error {
	var errs []error
	var done []*edit
	for i := range patches {
		p := &patches[i]
		d, err := m.accept(p)
		if d != nil && err == nil {
			e := &edit{model: m, doc: d}
			if err = e.apply(p); err != nil {
				e.abandon()
			} else {
				done = append(done, e)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("patch %d of document %q in frame %q is refused: %w", p.Sequence, p.Document, p.Frame, err))
		}
	}
	if err := m.build(); err != nil {
		errs = append(errs, err)
	}
	for _, e := range done {
		e.acknowledge()
	}
	return errors.Join(errs...)
}

// Pending lists the acknowledgements that were not delivered yet, at most one for each document. Those
// of documents that are gone or broken are not among them.
func (m *Model) Pending() []Ack {
	var acks []Ack
	for _, d := range m.order {
		if d.due != nil {
			acks = append(acks, *d.due)
		}
	}
	return acks
}

// Delivered says that the page was told of the acknowledgements.
func (m *Model) Delivered(acks []Ack) {
	for _, a := range acks {
		if d := m.frames[a.Frame]; d != nil && d.due != nil && d.id == a.Document && d.due.Sequence == a.Sequence {
			d.due = nil
		}
	}
}

// accept finds the document that a patch is for; nil without an error: the patch is to be ignored.
func (m *Model) accept(p *dom.Patch) (*document, error) {
	d := m.frames[p.Frame]
	switch {
	case p.Document != "" && slices.Contains(m.retired[:], p.Document):
		return nil, nil
	case d != nil && d.id == p.Document:
	case !p.Full:
		return nil, errors.New("the document is not known, and the patch is not a full one")
	default:
		if m.commit(p.Frame, p.Document); m.Document(p.Frame) != p.Document {
			return nil, fmt.Errorf("there are %d frames already", MaxFrames)
		}
		d = m.frames[p.Frame]
	}
	if d.broken && !p.Full {
		return nil, nil
	}
	if !p.Full && p.Sequence != d.sequence+1 {
		last := d.sequence
		m.fail(d)
		return nil, fmt.Errorf("it follows patch %d", last)
	}
	return d, nil
}

// edit returns the element of a node for writing: a copy, unless it was made in this batch.
func (m *Model) edit(n *node) *dom.Element {
	if n.batch != m.batch {
		el := *n.el
		n.el, n.batch = &el, m.batch
		m.touched = append(m.touched, n)
	}
	return n.el
}

// build brings the sequence up to date. It returns what is wrong with documents that it had to break.
func (m *Model) build() error {
	var errs []error
	for m.structural {
		m.structural = false
		if !m.mend() {
			m.whole = false
			if bad := m.arrange(); bad != nil {
				m.fail(bad)
				errs = append(errs, fmt.Errorf("document %q in frame %q is refused: an element stands before its parent", bad.id, bad.frame))
			}
		}
		clear(m.loose)
		m.loose, m.layout = m.loose[:0], nil
	}
	m.replace()
	if m.measured {
		m.measured = false
		m.look()
		m.replace()
	}
	return errors.Join(errs...)
}
