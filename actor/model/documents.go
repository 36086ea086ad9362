package model

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// document is what one frame shows.
type document struct {
	frame dom.FrameID
	id    string
	// list is the sentinel of the ring of nodes, in document order.
	list node
	// lastPatch is the number of the last patch; 0: none yet.
	lastPatch uint64
	broken    bool
	title     string
	// contexts is Patch.Contexts of the patch that is being applied.
	contexts bool
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

func newDocument(frame dom.FrameID, id string) *document {
	d := &document{frame: frame, id: id}
	d.list.prev, d.list.next = &d.list, &d.list
	return d
}

// top returns the parent and the depth of the document's elements that have no parent in it.
func (d *document) top() (parent dom.Ref, depth int) {
	if d.host == nil {
		return dom.NoRef, 0
	}
	return d.host.el.Ref, d.host.el.Depth + 1
}

// documents knows which document each frame shows, and which documents are gone.
type documents struct {
	frames map[dom.FrameID]*document
	// order holds the documents by first sight of their frames.
	order []*document
	// below are the frames of order without the main frame; nil when that is to be made anew. It is handed out, and so never changed.
	below []dom.FrameID
	// retired holds the names of documents that are gone, the oldest overwritten first.
	retired    [64]string
	retirement int
}

func newDocuments() *documents {
	return &documents{frames: map[dom.FrameID]*document{}}
}

// in returns the document that a frame shows; nil: not known.
func (ds *documents) in(frame dom.FrameID) *document { return ds.frames[frame] }

// main returns the main frame's document; nil: not known.
func (ds *documents) main() *document { return ds.frames[""] }

// isRetired reports whether a document is gone, so that late patches of it are recognised.
func (ds *documents) isRetired(id string) bool { return slices.Contains(ds.retired[:], id) }

// commit shows a document in a frame, and returns the documents that are gone for it. It does
// nothing when the frame shows the document already, or when there are too many frames.
func (ds *documents) commit(frame dom.FrameID, id string) (gone []*document, fresh bool) {
	d := ds.frames[frame]
	if d != nil && d.id == id {
		return nil, false
	}
	if d == nil && len(ds.frames) >= MaxFrames && frame != "" {
		return nil, false
	}
	for i, old := range ds.retired {
		if old == id {
			ds.retired[i] = ""
		}
	}
	next := newDocument(frame, id)
	switch i := slices.Index(ds.order, d); {
	case frame == "" && d != nil:
		gone, ds.order = ds.order, []*document{next}
		clear(ds.frames)
	case i >= 0:
		gone, ds.order[i] = []*document{d}, next
	default:
		ds.order = append(ds.order, next)
	}
	ds.retire(gone)
	if d == nil || frame == "" {
		ds.below = nil
	}
	ds.frames[frame] = next
	return gone, true
}

// drop forgets a frame, and returns the document that it showed; nil: none.
func (ds *documents) drop(frame dom.FrameID) *document {
	d := ds.frames[frame]
	if d == nil {
		return nil
	}
	delete(ds.frames, frame)
	ds.below = nil
	ds.order = slices.DeleteFunc(ds.order, func(o *document) bool { return o == d })
	ds.retire([]*document{d})
	return d
}

// belowMain returns the frames that the main frame holds, by first sight.
func (ds *documents) belowMain() []dom.FrameID {
	if ds.below == nil {
		ds.below = []dom.FrameID{}
		for _, d := range ds.order {
			if d.frame != "" {
				ds.below = append(ds.below, d.frame)
			}
		}
	}
	return ds.below
}

// retire remembers the names of documents that are gone.
func (ds *documents) retire(gone []*document) {
	for _, d := range gone {
		ds.retired[ds.retirement%len(ds.retired)] = d.id
		ds.retirement++
	}
}
