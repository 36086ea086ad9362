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
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// MaxFrames is how many frames of a tab are followed; patches of others are refused.
const MaxFrames = 2000

// Ack gives the elements that a patch added their refs.
type Ack = driver.Ack

// Model is the DOM of one tab: which documents there are, the refs of their elements, the order of the
// elements, and where they stand on the screen. The model takes in what happens to the page and tells
// its parts. The zero value is not usable; call New.
type Model struct {
	documents *documents
	refs      *refs
	sequence  *sequence
	geometry  *geometry
	pageTime  time.Time
}

// New returns an empty model, whose first ref is 0.
func New() *Model { return From(0) }

// From returns an empty model whose first ref is next.
func From(next dom.Ref) *Model {
	m := &Model{documents: newDocuments(), refs: newRefs(next)}
	m.sequence = &sequence{documents: m.documents, refs: m.refs, batch: 1}
	m.geometry = &geometry{sequence: m.sequence}
	return m
}

// Document names the document that a frame shows; empty: not known.
func (m *Model) Document(frame dom.FrameID) string {
	if d := m.documents.in(frame); d != nil {
		return d.id
	}
	return ""
}

// Title is what the last patch of the main document said.
func (m *Model) Title() string {
	if d := m.documents.main(); d != nil {
		return d.title
	}
	return ""
}

// PageTime is when the newest patch was made, by the page's clock.
func (m *Model) PageTime() time.Time { return m.pageTime }

// Next is the ref that will be given next; smaller ones were given before.
func (m *Model) Next() dom.Ref { return m.refs.next }

// Broken reports whether the frame's document was given up because its patches made no sense.
func (m *Model) Broken(frame dom.FrameID) bool {
	d := m.documents.in(frame)
	return d != nil && d.broken
}

// BrokenFrames lists the frames whose documents were given up, until a full patch of each comes.
func (m *Model) BrokenFrames() []dom.FrameID {
	var broken []dom.FrameID
	for _, d := range m.documents.order {
		if d.broken {
			broken = append(broken, d.frame)
		}
	}
	return broken
}

// Where returns the frame and the document in which an element stands.
func (m *Model) Where(ref dom.Ref) (frame dom.FrameID, document string, ok bool) {
	n := m.refs.find(ref)
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
	gone, fresh := m.documents.commit(frame, document)
	for _, d := range gone {
		m.empty(d)
	}
	if fresh {
		m.sequence.invalidate()
	}
	return fresh
}

// Drop forgets a frame that is gone.
func (m *Model) Drop(frame dom.FrameID) {
	if d := m.documents.drop(frame); d != nil {
		m.empty(d)
		m.build()
	}
}

// empty takes a document's elements out of the model.
func (m *Model) empty(d *document) {
	for n := d.list.next; n != &d.list; n = n.next {
		n.present = false
		m.refs.release(n)
	}
	d.list.prev, d.list.next = &d.list, &d.list
	m.sequence.invalidate()
}

// fail breaks a document.
func (m *Model) fail(d *document) {
	m.empty(d)
	d.broken, d.lastPatch, d.due = true, 0, nil
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
	for _, d := range m.documents.order {
		if d.due != nil {
			acks = append(acks, *d.due)
		}
	}
	return acks
}

// Delivered says that the page was told of the acknowledgements.
func (m *Model) Delivered(acks []Ack) {
	for _, a := range acks {
		if d := m.documents.in(a.Frame); d != nil && d.due != nil && d.id == a.Document && d.due.Sequence == a.Sequence {
			d.due = nil
		}
	}
}

// accept finds the document that a patch is for; nil without an error: the patch is to be ignored.
func (m *Model) accept(p *dom.Patch) (*document, error) {
	d := m.documents.in(p.Frame)
	switch {
	case p.Document != "" && m.documents.isRetired(p.Document):
		return nil, nil
	case d != nil && d.id == p.Document:
	case !p.Full:
		return nil, errors.New("the document is not known, and the patch is not a full one")
	default:
		if m.commit(p.Frame, p.Document); m.Document(p.Frame) != p.Document {
			return nil, fmt.Errorf("there are %d frames already", MaxFrames)
		}
		d = m.documents.in(p.Frame)
	}
	if d.broken && !p.Full {
		return nil, nil
	}
	if !p.Full && p.Sequence != d.lastPatch+1 {
		last := d.lastPatch
		m.fail(d)
		return nil, fmt.Errorf("it follows patch %d", last)
	}
	return d, nil
}

// Elements hands out the merged sequence, which is immutable. It is the same list as before when nothing changed.
func (m *Model) Elements() dom.List { return m.sequence.elements() }

// Frames returns the frames below the main frame whose documents are known: the list of before unless one came or went.
func (m *Model) Frames() []dom.FrameID { return m.documents.belowMain() }

// Layout returns the boxes of the sequence; nil when the main document was never measured. Elements
// that were never measured have the zero box. The result is immutable.
func (m *Model) Layout() *dom.Layout { return m.geometry.boxes() }

// build brings the sequence up to date. It returns what is wrong with documents that it had to break.
func (m *Model) build() error {
	var errs []error
	for m.sequence.structural {
		if bad := m.sequence.update(); bad != nil {
			m.fail(bad)
			errs = append(errs, fmt.Errorf("document %q in frame %q is refused: an element stands before its parent", bad.id, bad.frame))
		}
		m.geometry.reordered()
	}
	m.sequence.replace()
	m.geometry.derive()
	m.sequence.replace()
	return errors.Join(errs...)
}
