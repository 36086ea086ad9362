package driver

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// Subscription selects what a page's documents report by themselves. The zero value selects nothing.
type Subscription struct {
	// Push makes documents push their changes; the fields below apply only while it is set. Geometry includes whether elements are in the
	// viewport.
	Push, Geometry bool
	// Structural and Attributes are as in ReadRequest, and also apply to future documents.
	Structural bool
	Attributes []string
	// Selectors are evaluated when a document changes, and reported by SelectorsMatched events. They are sorted and unique.
	Selectors []dom.Selector
	// Network enables Traffic events, which report whether requests are in flight.
	Network bool
	// Notices enables NoticesReported events, which report what a person would notice from now on.
	Notices bool
}

// Equal reports whether two subscriptions are equal.
func (s Subscription) Equal(o Subscription) bool {
	return s.Push == o.Push && s.Geometry == o.Geometry && s.Notices == o.Notices && s.EqualReports(o)
}

// EqualReports reports whether two subscriptions are equal apart from how documents push their changes.
func (s Subscription) EqualReports(o Subscription) bool {
	return s.Structural == o.Structural && s.Network == o.Network &&
		slices.Equal(s.Attributes, o.Attributes) && slices.Equal(s.Selectors, o.Selectors)
}

// Ack assigns refs to the elements that a patch added.
type Ack struct {
	Frame    dom.FrameID
	Document string
	Sequence uint64
	// Refs is parallel to the patch's OpAdd operations. For a patch with Contexts, the structural elements come last.
	Refs []dom.Ref
}

// ReadRequest selects what to read.
type ReadRequest struct {
	Acks []Ack
	// Restart lists the frames whose next patch must be a full one, because an earlier patch was rejected.
	Restart []dom.FrameID
	// Structural adds headings, landmarks, text and images to the stored DOM, permanently.
	Structural bool
	// Contexts does the same for unread documents whose elements share, or may share, role and name with other elements, possibly in other
	// documents, so that only their surroundings distinguish them. A page may ignore it.
	Contexts bool
	// Attributes adds HTML attributes to the stored DOM, permanently.
	Attributes []string
	// Geometry adds the boxes.
	Geometry bool
	// Mark numbers the reads of a tab in increasing order. For ExpectedElement, documents remember the names of elements and the text of
	// their rows at the last marks.
	Mark uint64
}

// ReadResult is the result of Read.
type ReadResult struct {
	// Patches has one patch for every document that changed or was measured, main frame first.
	Patches []dom.Patch
	// Structural reports that ReadRequest.Contexts has added headings, landmarks, text and images to all documents.
	Structural bool
	// Unacknowledged lists the frames that could not be read.
	Unacknowledged []dom.FrameID
	// Late lists the frames in other processes that did not answer or load in time. Their next patch is a full one.
	Late []dom.FrameID
}
