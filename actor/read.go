package actor

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/dom"
)

// ReadOptions says what a Read needs beyond the interactive elements.
type ReadOptions struct {
	// Structural adds headings, landmarks, text and images.
	Structural bool
	// Contexts adds them on the first read of a document in which elements share role and name, so that only what stands
	// around them tells them apart. Reading.Structural says whether it did; a page may leave it.
	Contexts bool
	// Attributes adds HTML attributes by name.
	Attributes []string
	// Geometry asks for the boxes, and brings Element.InViewport up to date.
	Geometry bool
	// MaxAge is how old the answer may be; 0: the page is asked. What lies ready is older than nothing that a call on
	// the tab did.
	MaxAge time.Duration
	// At is a moment of a recorded tab; zero: the one that it stands at. A live tab has none but zero.
	At Moment
}

// Reading is the state of a tab right after a Read.
type Reading struct {
	Head *Head
	// Layout stands parallel to Head.Snapshot.Elements; nil unless Geometry was asked for.
	Layout *dom.Layout
	// Late names the frames that did not answer: of them the head shows what was last known.
	Late []dom.FrameID
	// Structural says that the stored DOM has headings, landmarks, text and images, asked for or not.
	Structural bool
	// Mark is that of ReadRequest. A head that came by itself since has the mark of the read before it.
	Mark uint64
}

// Read brings the DOM up to date with the page. What was once asked for by Structural and Attributes
// stays part of the stored DOM. It fails with an *Error: DialogOpen while a dialog blocks the page,
// Lost after a crash.
//
// Reads that wait for their turn share it: however many callers there are, the page is asked by one of them at a time,
// and each gets an answer that is younger than its call.
func (t *Tab) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	if t.past != nil {
		return recorded{t}.read(o)
	}
	if err := refusePast(t, o.At); err != nil {
		return Reading{}, err
	}
	if r, ok := t.lastRead.Load().serve(t, o); ok {
		return r, nil
	}
	r, err := shareTurn(ctx, t, "read", &t.reads, o, func(ctx context.Context, x *Exclusive, all []ReadOptions) (Reading, error) {
		return x.Read(ctx, union(all))
	})
	return r.of(o), err
}

// union is what reads ask for together.
func union(all []ReadOptions) (o ReadOptions) {
	for _, one := range all {
		o.Structural = o.Structural || one.Structural
		o.Contexts = o.Contexts || one.Contexts
		o.Geometry = o.Geometry || one.Geometry
		o.Attributes = append(o.Attributes, one.Attributes...)
	}
	return o
}

// of is the reading for one of those who shared it.
func (r Reading) of(o ReadOptions) Reading {
	if !o.Geometry {
		r.Layout = nil
	}
	return r
}

// lastRead is what the last read found, for callers to whom that is young enough (ReadOptions.MaxAge).
type lastRead struct {
	reading Reading
	// options is what was read; at is when the page was asked, so that the answer is younger.
	options ReadOptions
	at      time.Time
}

// serve returns what the last read of a tab found when that is enough: no older than MaxAge, of the document that the tab shows,
// and all that is asked for. It has nothing of a tab that has crashed, ended, or is behind a dialog.
func (r *lastRead) serve(t *Tab, o ReadOptions) (Reading, bool) {
	if r == nil || o.MaxAge <= 0 || t.ctx.Err() != nil || t.recovery.Away() {
		return Reading{}, false
	}
	head := t.head.Load()
	switch {
	case time.Since(r.at) > o.MaxAge || !r.options.covers(o):
		return Reading{}, false
	case head.Info.Status == StatusCrashed || head.Info.Dialog != nil:
		return Reading{}, false
	case head.Snapshot.Epoch != r.reading.Head.Snapshot.Epoch || head.Snapshot.Document != r.reading.Head.Snapshot.Document:
		return Reading{}, false
	}
	if !o.Geometry { // boxes go with one snapshot; without them the newest serves, which a watched page keeps up to date
		return Reading{Head: head, Late: r.reading.Late, Structural: r.reading.Structural, Mark: r.reading.Mark}, true
	}
	return r.reading, true
}

// covers reports whether who asked for o has what other asks for.
func (o ReadOptions) covers(other ReadOptions) bool {
	for _, name := range other.Attributes {
		if !slices.Contains(o.Attributes, name) {
			return false
		}
	}
	return (o.Structural || !other.Structural) && (o.Geometry || !other.Geometry)
}
