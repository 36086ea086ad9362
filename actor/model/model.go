// Package model stores the DOM of one tab: the documents of all its frames, which their observers report in patches, merged into one
// sequence of elements.
//
// The model assigns every element its ref, parent, depth and frame, and inserts the elements of a frame right after the element that holds
// the frame. Elements that were handed out are never modified. A change creates a new Element for the changed one, and all others are
// shared, chunk by chunk, with the earlier sequences. The cost of a patch depends on its operations. A pass over the whole sequence is
// needed only to move elements with children, or to add or remove a document or a frame host.
//
// Patches are untrusted input. An invalid patch breaks its document: the document's elements are removed, and its patches are ignored until
// a full patch arrives. No patch can make the model panic, loop, or assign one ref to two elements.
//
// A Model belongs to one goroutine. The slices and elements that it hands out may be read concurrently.
package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// MaxFrames limits how many frames of a tab are tracked. Patches of other frames are rejected.
const MaxFrames = 2000

// Ack assigns refs to the elements that a patch added.
type Ack = driver.Ack

// Model is the DOM of one tab: its documents, the refs, order and positions of their elements. The Model receives the changes of the page
// and passes them to its parts. The zero value is not usable; call New.
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

// Document returns the document of a frame, or an empty string if it is not known.
func (m *Model) Document(frame dom.FrameID) string {
	if d := m.documents.in(frame); d != nil {
		return d.id
	}
	return ""
}

// Title returns the title from the last patch of the main document.
func (m *Model) Title() string {
	if d := m.documents.main(); d != nil {
		return d.title
	}
	return ""
}

// PageTime returns when the newest patch was created, by the page's clock.
func (m *Model) PageTime() time.Time { return m.pageTime }

// Next returns the next ref to assign. All smaller refs are already assigned.
func (m *Model) Next() dom.Ref { return m.refs.next }

// Broken reports whether the frame's document is broken because of invalid patches.
func (m *Model) Broken(frame dom.FrameID) bool {
	d := m.documents.in(frame)
	return d != nil && d.broken
}

// BrokenFrames returns the frames whose documents are broken. They need a full patch.
func (m *Model) BrokenFrames() []dom.FrameID {
	var broken []dom.FrameID
	for _, d := range m.documents.order {
		if d.broken {
			broken = append(broken, d.frame)
		}
	}
	return broken
}

// Where returns the frame and the document that contain an element.
func (m *Model) Where(ref dom.Ref) (frame dom.FrameID, document string, ok bool) {
	n := m.refs.find(ref)
	if n == nil {
		return "", "", false
	}
	return n.doc.frame, n.doc.id, true
}

// Commit sets the document of a frame, whose elements are not known yet. A commit of the main frame drops all other frames. It reports
// whether the document was new.
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

// Drop removes a frame that is gone.
func (m *Model) Drop(frame dom.FrameID) {
	if d := m.documents.drop(frame); d != nil {
		m.empty(d)
		m.build()
	}
}

// empty removes a document's elements from the model.
func (m *Model) empty(d *document) {
	for n := d.list.next; n != &d.list; n = n.next {
		n.present = false
		m.refs.release(n)
	}
	d.list.prev, d.list.next = &d.list, &d.list
	m.sequence.invalidate()
}

// fail marks a document as broken.
func (m *Model) fail(d *document) {
	m.empty(d)
	d.broken, d.lastPatch, d.due = true, 0, nil
}

// Apply applies patches that belong together, and assigns refs to the added elements in the order of the merged sequence. Pending then
// returns what to acknowledge. The error joins the errors of rejected patches; the other patches were applied. Patches of documents that
// are gone are ignored.
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
			errs = append(errs, fmt.Errorf("reject patch %d of document %q in frame %q: %w", p.Sequence, p.Document, p.Frame, err))
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

// Pending returns the acknowledgements that were not delivered yet, at most one per document. It omits documents that are gone or broken.
func (m *Model) Pending() []Ack {
	var acks []Ack
	for _, d := range m.documents.order {
		if d.due != nil {
			acks = append(acks, *d.due)
		}
	}
	return acks
}

// Delivered records that acknowledgements were sent to the page.
func (m *Model) Delivered(acks []Ack) {
	for _, a := range acks {
		if d := m.documents.in(a.Frame); d != nil && d.due != nil && d.id == a.Document && d.due.Sequence == a.Sequence {
			d.due = nil
		}
	}
}

// accept returns the document of a patch. If it returns nil without an error, the patch is to be ignored.
func (m *Model) accept(p *dom.Patch) (*document, error) {
	d := m.documents.in(p.Frame)
	switch {
	case p.Document != "" && m.documents.isRetired(p.Document):
		return nil, nil
	case d != nil && d.id == p.Document:
	case !p.Full:
		return nil, errors.New("unknown document, and the patch is not full")
	default:
		if m.commit(p.Frame, p.Document); m.Document(p.Frame) != p.Document {
			return nil, fmt.Errorf("more than %d frames", MaxFrames)
		}
		d = m.documents.in(p.Frame)
	}
	if d.broken && !p.Full {
		return nil, nil
	}
	if !p.Full && p.Sequence != d.lastPatch+1 {
		last := d.lastPatch
		m.fail(d)
		return nil, fmt.Errorf("the last patch was %d", last)
	}
	return d, nil
}

// Elements returns the merged sequence, which is immutable. It returns the same list as before if nothing changed.
func (m *Model) Elements() dom.List { return m.sequence.elements() }

// Frames returns the known frames other than the main frame. It returns the same slice as before unless a frame was added or removed.
func (m *Model) Frames() []dom.FrameID { return m.documents.belowMain() }

// Layout returns the boxes of the sequence, or nil if the main document was never measured. Elements that were never measured have the zero
// box. The result is immutable.
func (m *Model) Layout() *dom.Layout { return m.geometry.boxes() }

// build updates the sequence. It returns the errors of documents that it marked as broken.
func (m *Model) build() error {
	var errs []error
	for m.sequence.structural {
		if bad := m.sequence.update(); bad != nil {
			m.fail(bad)
			errs = append(errs, fmt.Errorf("reject document %q in frame %q: an element precedes its parent", bad.id, bad.frame))
		}
		m.geometry.reordered()
	}
	m.sequence.replace()
	m.geometry.derive()
	m.sequence.replace()
	return errors.Join(errs...)
}
