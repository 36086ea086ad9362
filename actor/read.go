package actor

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/dom"
)

// ReadOptions selects what a Read returns in addition to the interactive elements.
type ReadOptions struct {
	// Structural adds headings, landmarks, text and images.
	Structural bool
	// Contexts adds the structural elements on the first read of a document in which elements share role and name, so that only their
	// surroundings tell them apart. The page may skip this; Reading.Structural reports whether they were added.
	Contexts bool
	// Attributes adds HTML attributes by name.
	Attributes []string
	// Geometry adds the boxes and updates Element.InViewport.
	Geometry bool
	// MaxAge limits the age of the answer. If 0, the page is always read. A stored answer is never older than the last call that acted on
	// the tab.
	MaxAge time.Duration
	// At selects a moment of a recorded tab. Zero selects the recording's current moment. It must be zero for a live tab.
	At Moment
}

// Reading is the state of a tab right after a Read.
type Reading struct {
	Head *Head
	// Layout is parallel to Head.Snapshot.Elements. It is nil unless Geometry was set.
	Layout *dom.Layout
	// Late lists the frames that did not answer. For these frames, the head has their last known state.
	Late []dom.FrameID
	// Structural reports whether the stored DOM has headings, landmarks, text and images, even if they were not requested.
	Structural bool
	// Mark is the mark of the ReadRequest. A head that was pushed since has the mark of the read before it.
	Mark uint64
}

// Read synchronizes the DOM with the page. What Structural and Attributes once requested remains part of the stored DOM. Read fails with an
// *Error of kind DialogOpen while a dialog blocks the page, or Lost after a crash.
//
// Concurrent reads share a turn: one of them reads the page on behalf of all waiting callers. Each caller gets an answer that is newer than
// its call.
func (t *Tab) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	if t.past != nil {
		return recorded{t}.read(o)
	}
	if err := rejectPast(t, o.At); err != nil {
		return Reading{}, err
	}
	if r, ok := t.lastRead.Load().serve(t, o); ok {
		return r, nil
	}
	r, err := shareTurn(ctx, t, "read", &t.reads, o, func(ctx context.Context, x *Exclusive, all []ReadOptions) (Reading, error) {
		return x.Read(ctx, combineOptions(all))
	})
	return r.of(o), err
}

// combineOptions returns the combined options of several reads.
func combineOptions(all []ReadOptions) (o ReadOptions) {
	for _, one := range all {
		o.Structural = o.Structural || one.Structural
		o.Contexts = o.Contexts || one.Contexts
		o.Geometry = o.Geometry || one.Geometry
		o.Attributes = append(o.Attributes, one.Attributes...)
	}
	return o
}

// of returns the part of a shared reading that one caller requested.
func (r Reading) of(o ReadOptions) Reading {
	if !o.Geometry {
		r.Layout = nil
	}
	return r
}

// lastRead holds the last reading, for callers that accept its age (ReadOptions.MaxAge).
type lastRead struct {
	reading Reading
	// options are the options of the read. at is the time before the page was read, so the reading is never older.
	options ReadOptions
	at      time.Time
}

// serve returns the last reading of a tab if it suffices: it is no older than MaxAge, belongs to the current document, and covers all
// options. It serves nothing if the tab has crashed, has ended, or is blocked by a dialog.
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
	if !o.Geometry { // boxes belong to one snapshot; without them the newest head serves, which is current on a watched page
		return Reading{Head: head, Late: r.reading.Late, Structural: r.reading.Structural, Mark: r.reading.Mark}, true
	}
	return r.reading, true
}

// covers reports whether a reading with options o includes all that other requests.
func (o ReadOptions) covers(other ReadOptions) bool {
	for _, name := range other.Attributes {
		if !slices.Contains(o.Attributes, name) {
			return false
		}
	}
	return (o.Structural || !other.Structural) && (o.Geometry || !other.Geometry)
}
