package model

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// document is the document of one frame.
type document struct {
	frame dom.FrameID
	id    string
	// list is the sentinel of the circular list of nodes, in document order.
	list node
	// lastPatch is the number of the last patch, or 0 if there was none.
	lastPatch uint64
	broken    bool
	title     string
	// contexts is the Contexts field of the patch that is being applied.
	contexts bool
	// due is the acknowledgement that was not sent to the page yet.
	due *Ack
	// scroll is the scroll position and the viewport size. measured reports whether they are known.
	scroll   dom.Box
	measured bool
	// host is the element that holds the frame. It is set when the document is placed.
	host *node
	pass uint64
	// x and y convert the document's coordinates to coordinates of the top-level viewport.
	x, y float64
	// covered reports whether a modal covers the host, and so everything in the frame.
	covered bool
}

func newDocument(frame dom.FrameID, id string) *document {
	d := &document{frame: frame, id: id}
	d.list.prev, d.list.next = &d.list, &d.list
	return d
}

// top returns the parent and the depth of the document's top-level elements.
func (d *document) top() (parent dom.Ref, depth int) {
	if d.host == nil {
		return dom.NoRef, 0
	}
	return d.host.el.Ref, d.host.el.Depth + 1
}

// documents tracks the current document of each frame, and the documents that are gone.
type documents struct {
	frames map[dom.FrameID]*document
	// order holds the documents in the order in which their frames were first seen.
	order []*document
	// below holds the frames of order without the main frame, or nil if it must be recomputed. It is handed out and never modified.
	below []dom.FrameID
	// retired is a ring of the IDs of documents that are gone.
	retired    [64]string
	retirement int
}

func newDocuments() *documents {
	return &documents{frames: map[dom.FrameID]*document{}}
}

// in returns the document of a frame, or nil if it is not known.
func (ds *documents) in(frame dom.FrameID) *document { return ds.frames[frame] }

// main returns the main frame's document, or nil if it is not known.
func (ds *documents) main() *document { return ds.frames[""] }

// isRetired reports whether a document is gone. It detects late patches.
func (ds *documents) isRetired(id string) bool { return slices.Contains(ds.retired[:], id) }

// commit sets the document of a frame, and returns the documents that it replaces. It does nothing if the frame already shows the document,
// or if there are too many frames.
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

// drop removes a frame and returns its document, or nil if it has none.
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

// belowMain returns all frames except the main frame, in the order in which they were first seen.
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

// retire records the IDs of documents that are gone.
func (ds *documents) retire(gone []*document) {
	for _, d := range gone {
		ds.retired[ds.retirement%len(ds.retired)] = d.id
		ds.retirement++
	}
}
