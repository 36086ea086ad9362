// Package document holds the DOM of a tab: of all frames of the main document, with the refs, epoch and number that snapshots carry,
// and what is remembered of earlier documents.
//
// A Document is a plain value of the tab's goroutine. It guarantees that a ref is never used again, also not after the tab was
// restored, and that a document which reports nonsense breaks no other one.
package document

import (
	"slices"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// maxTombstones is how many elements of earlier documents are remembered.
const maxTombstones = 1000

// tombstone is what is remembered of an element whose document is gone.
type tombstone struct{ role, text string }

// Document is the DOM of a tab. Make one with New.
type Document struct {
	model *model.Model
	epoch string
	// number counts the main documents.
	number uint64
	// structural is the number of the document that was asked for its structure, limited that of the one that has more elements
	// than its observers may keep.
	structural, limited uint64
	tombstones          map[dom.Ref]tombstone
}

// New returns the DOM of a tab that shows nothing yet, whose refs begin with next.
func New(epoch string, next dom.Ref) Document {
	return Document{model: model.From(next), epoch: epoch, number: 1}
}

// Applied says what patches changed beside the elements.
type Applied struct {
	// Main is the main document when that is another one now, and First says that there was none before. URL is what its patch says.
	Main, URL string
	First     bool
	// Title is what the patches say, when Retitled: a title that did not change is not news.
	Title    string
	Retitled bool
	// Limited says that a document has more elements than its observer may keep.
	Limited bool
	// Err is why patches were refused; the documents are to be read anew.
	Err error
}

// Apply takes patches that belong together.
func (d *Document) Apply(patches ...dom.Patch) (a Applied) {
	was, title := d.model.Document(""), d.model.Title()
	a.Limited = slices.ContainsFunc(patches, func(p dom.Patch) bool { return p.Limited })
	a.Err = d.model.Apply(patches...)
	if main := d.model.Document(""); main != was {
		a.Main, a.First, title = main, was == "", ""
		if i := slices.IndexFunc(patches, func(p dom.Patch) bool { return p.Document == main }); i >= 0 {
			a.URL = patches[i].URL
		}
	}
	a.Title = d.model.Title()
	a.Retitled = a.Title != title
	return a
}

// Limit notes that the main document is limited; first says that it was not so far.
func (d *Document) Limit() (first bool) {
	first = d.limited != d.number
	d.limited = d.number
	return first
}

// Commit says that a frame shows another document.
func (d *Document) Commit(frame dom.FrameID, document string) { d.model.Commit(frame, document) }

// Drop says that a frame is gone.
func (d *Document) Drop(frame dom.FrameID) { d.model.Drop(frame) }

// Current is the document that a frame shows.
func (d *Document) Current(frame dom.FrameID) string { return d.model.Document(frame) }

// Next begins another main document after the last snapshot of the one before. NewEpoch, unless it is empty, is its epoch.
func (d *Document) Next(last *dom.Snapshot, newEpoch string) {
	d.remember(last)
	d.number++
	if newEpoch != "" {
		d.epoch = newEpoch
	}
}

// remember remembers what the elements of a document were that is left, the newest document first.
func (d *Document) remember(s *dom.Snapshot) {
	if s.Elements.Len() == 0 {
		return
	}
	all := make(map[dom.Ref]tombstone, min(maxTombstones, s.Elements.Len()+len(d.tombstones)))
	for el := range s.Elements.All() {
		if len(all) == maxTombstones {
			break
		}
		if el.Kind == dom.Interactive {
			all[el.Ref] = tombstone{role: el.Role, text: target.Called(el)}
		}
	}
	for ref, e := range d.tombstones {
		if len(all) == maxTombstones {
			break
		}
		all[ref] = e
	}
	d.tombstones = all
}

// Tombstone returns the role and name of an element of an earlier document; nil when that is not known.
func (d *Document) Tombstone(ref dom.Ref) *dom.Element {
	t, known := d.tombstones[ref]
	if !known {
		return nil
	}
	return &dom.Element{Ref: ref, Role: t.role, Text: t.text}
}

// AskStructure notes that the main document was asked for headings, landmarks, text and images.
func (d *Document) AskStructure() { d.structural = d.number }

// Structural reports whether it was.
func (d *Document) Structural() bool { return d.structural == d.number }

// Attach begins with another page, which was asked for nothing.
func (d *Document) Attach() { d.structural = 0 }

// Pending returns what the documents are to be told of the refs of their last patches. The caller owes a Delivered.
func (d *Document) Pending() []driver.Ack {
	return d.model.Pending()
}

// Delivered says that the documents know.
func (d *Document) Delivered(acks []driver.Ack) { d.model.Delivered(acks) }

// Broken names the frames whose patches were refused.
func (d *Document) Broken() []dom.FrameID { return d.model.BrokenFrames() }

// MainBroken reports whether the main frame is one of them.
func (d *Document) MainBroken() bool { return d.model.Broken("") }

// Where names an element with the frame and the document in which it stands, if it stands anywhere.
func (d *Document) Where(ref dom.Ref) driver.Element {
	frame, document, _ := d.model.Where(ref)
	return driver.Element{Ref: ref, Frame: frame, Document: document}
}

// Layout returns the boxes of the elements.
func (d *Document) Layout() *dom.Layout { return d.model.Layout() }

// NextRef is the ref that the next element gets.
func (d *Document) NextRef() dom.Ref { return d.model.Next() }

// Snapshot returns the snapshot after last, which is last itself when nothing changed.
func (d *Document) Snapshot(last *dom.Snapshot, url, title string, history []dom.Visit, now time.Time) *dom.Snapshot {
	elements, frames, limited := d.model.Elements(), d.model.Frames(), d.limited == d.number
	if elements == last.Elements && identical(frames, last.Frames) && identical(history, last.History) && last.URL == url && last.Title == title &&
		last.Document == d.number && last.Epoch == d.epoch && last.Limited == limited {
		return last
	}
	return &dom.Snapshot{
		Epoch: d.epoch, Revision: last.Revision + 1, Document: d.number, URL: url, Title: title,
		Elements: elements, History: history, Limited: limited, Frames: frames, PageTime: d.model.PageTime(), ObservedAt: now,
	}
}

// identical reports whether two slices are one.
func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
