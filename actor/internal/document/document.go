// Package document holds the DOM of a tab: all frames of the main document, the refs, the epoch and the number that snapshots carry, and
// records of earlier documents.
//
// A Document is a plain value of the tab's goroutine. It guarantees that refs are never reused, even after the tab was restored, and that a
// document with invalid patches does not affect other documents.
package document

import (
	"slices"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// maxTombstones limits how many elements of earlier documents are remembered.
const maxTombstones = 1000

// tombstone is the record of an element whose document is gone.
type tombstone struct{ role, text string }

// Document is the DOM of a tab. Create one with New.
type Document struct {
	model *model.Model
	epoch string
	// number counts the main documents.
	number uint64
	// structural is the number of the document that was requested to report its structure. limited is the number of the document that has
	// more elements than its observers may keep.
	structural, limited uint64
	tombstones          map[dom.Ref]tombstone
}

// New returns the DOM of a blank tab whose refs start at next.
func New(epoch string, next dom.Ref) Document {
	return Document{model: model.From(next), epoch: epoch, number: 1}
}

// Applied reports what patches changed apart from the elements.
type Applied struct {
	// Main is the new main document, or empty if that did not change. First reports that the tab had no main document until then. URL is
	// the URL from its patch.
	Main, URL string
	First     bool
	// Title is the new title if Retitled is set.
	Title    string
	Retitled bool
	// Limited reports that a document has more elements than its observer may keep.
	Limited bool
	// Err is the reason why patches were rejected. Their documents have to be read anew.
	Err error
}

// Apply applies patches that belong together.
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

// Limit marks the main document as limited. It returns true unless the document was already marked.
func (d *Document) Limit() (first bool) {
	first = d.limited != d.number
	d.limited = d.number
	return first
}

// Commit records that a frame shows another document.
func (d *Document) Commit(frame dom.FrameID, document string) { d.model.Commit(frame, document) }

// Drop removes a frame.
func (d *Document) Drop(frame dom.FrameID) { d.model.Drop(frame) }

// Current returns the document that a frame shows.
func (d *Document) Current(frame dom.FrameID) string { return d.model.Document(frame) }

// Next starts another main document. It keeps a record of the elements in last, the last snapshot of the previous document. NewEpoch, if
// not empty, is the new epoch.
func (d *Document) Next(last *dom.Snapshot, newEpoch string) {
	d.remember(last)
	d.number++
	if newEpoch != "" {
		d.epoch = newEpoch
	}
}

// remember records the elements of the previous document. If there are too many tombstones, the tombstones of older documents are dropped.
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
			all[el.Ref] = tombstone{role: el.Role, text: target.DisplayName(el)}
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

// Tombstone returns the role and name of an element of an earlier document, or nil if that is not known.
func (d *Document) Tombstone(ref dom.Ref) *dom.Element {
	t, known := d.tombstones[ref]
	if !known {
		return nil
	}
	return &dom.Element{Ref: ref, Role: t.role, Text: t.text}
}

// AskStructure records that headings, landmarks, text and images of the main document were requested.
func (d *Document) AskStructure() { d.structural = d.number }

// Structural reports whether AskStructure was called for the main document.
func (d *Document) Structural() bool { return d.structural == d.number }

// Attach starts over with another page, of which nothing was requested yet.
func (d *Document) Attach() { d.structural = 0 }

// Pending returns the refs that still have to be sent to documents as acknowledgements. The caller must call Delivered after sending them.
func (d *Document) Pending() []driver.Ack {
	return d.model.Pending()
}

// Delivered records that acknowledgements were sent.
func (d *Document) Delivered(acks []driver.Ack) { d.model.Delivered(acks) }

// Broken returns the frames whose patches were rejected.
func (d *Document) Broken() []dom.FrameID { return d.model.BrokenFrames() }

// MainBroken reports whether patches of the main frame were rejected.
func (d *Document) MainBroken() bool { return d.model.Broken("") }

// Where returns an element's ref with the frame and the document that contain it, if any.
func (d *Document) Where(ref dom.Ref) driver.Element {
	frame, document, _ := d.model.Where(ref)
	return driver.Element{Ref: ref, Frame: frame, Document: document}
}

// Layout returns the boxes of the elements.
func (d *Document) Layout() *dom.Layout { return d.model.Layout() }

// NextRef returns the ref of the next new element.
func (d *Document) NextRef() dom.Ref { return d.model.Next() }

// Snapshot returns the snapshot that follows last, or last itself if nothing changed.
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

// identical reports whether two slices share their elements.
func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
