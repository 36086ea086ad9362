package driver

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// Subscription says what a page's documents report by themselves. The zero value is nothing.
type Subscription struct {
	// Push has documents push their changes; the fields below count only while they do. Geometry adds whether elements are
	// in the viewport.
	Push, Geometry bool
	// Structural and Attributes are as in ReadRequest, for documents to come too.
	Structural bool
	Attributes []string
	// Selectors are evaluated when a document changes, and reported by Selected events. In order, each once.
	Selectors []dom.Selector
	// Network has Traffic events report whether requests are under way.
	Network bool
	// Notices has Noticed events report what a person would notice from then on.
	Notices bool
}

// Equal reports whether two subscriptions ask for the same.
func (s Subscription) Equal(o Subscription) bool {
	return s.Push == o.Push && s.Geometry == o.Geometry && s.Notices == o.Notices && s.EqualReports(o)
}

// EqualReports reports whether two subscriptions ask for the same beside the changes of documents.
func (s Subscription) EqualReports(o Subscription) bool {
	return s.Structural == o.Structural && s.Network == o.Network &&
		slices.Equal(s.Attributes, o.Attributes) && slices.Equal(s.Selectors, o.Selectors)
}

// Ack gives the elements that a patch added their refs.
type Ack struct {
	Frame    dom.FrameID
	Document string
	Sequence uint64
	// Refs stands parallel to the patch's OpAdd operations; those of a patch with Contexts are sorted: the structural
	// elements come last.
	Refs []dom.Ref
}

// ReadRequest says what to read.
type ReadRequest struct {
	Acks []Ack
	// Restart names the frames whose next patch is to be a full one, because an earlier one was refused.
	Restart []dom.FrameID
	// Structural adds headings, landmarks, text and images to the stored DOM, from now on.
	Structural bool
	// Contexts does the same to documents that have not been read yet, and whose elements share role and name with others,
	// or may share them with those of other documents, so that only what stands around them tells them apart. A page may
	// ignore it.
	Contexts bool
	// Attributes adds HTML attributes to the stored DOM, from now on.
	Attributes []string
	// Geometry asks for the boxes.
	Geometry bool
	// Mark numbers the reads of a tab, growing. Documents remember what an element was called and what its row said at
	// the last marks, for Known.
	Mark uint64
}

// Readout is the answer of Read.
type Readout struct {
	// Patches holds one patch for every document that changed (or was measured), main frame first.
	Patches []dom.Patch
	// Structural says that all documents have headings, landmarks, text and images now because of ReadRequest.Contexts.
	Structural bool
	// Unacknowledged names the frames that could not be read.
	Unacknowledged []dom.FrameID
	// Late names the frames that did not answer or come in time, in processes of their own. The first patch after
	// they do is a full one.
	Late []dom.FrameID
}
