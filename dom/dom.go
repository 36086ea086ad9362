// Package dom defines the values that the packages of domtap exchange: elements, their keys, snapshots of a tab, and the patches from one
// state of a document to the next.
//
// It guarantees that published values do not change. A *Snapshot, a List and an *Element may be read concurrently. A new state is a new
// Snapshot that shares the pointers of all unchanged elements, so comparing two snapshots of one tab mostly compares pointers.
//
// Callers must not modify published values, or slices that they passed to NewChunk, NewList or ListOf. To change an element, copy it. All
// texts of elements come from the page and are untrusted.
package dom

import (
	"maps"
	"math"
	"time"
)

// Ref identifies an element within its tab. Each DOM node gets one ref, in document order when it is first observed, starting at 0. A ref
// is not reused for another node of the tab, except for an equal node that certainly replaced the old one.
type Ref uint32

// NoRef means "no element".
const NoRef Ref = math.MaxUint32

// FrameID identifies a frame of a tab. The main frame is the empty string in Element.Frame.
type FrameID string

// Tri is a state that can be absent, false, true or mixed. The zero value is absent: the state does
// not apply to the element.
type Tri uint8

// The values of Tri.
const (
	Absent Tri = iota
	False
	True
	Mixed
)

// String returns "", "false", "true" or "mixed".
func (t Tri) String() string {
	return [...]string{"", "false", "true", "mixed"}[t&3]
}

// Kind is the reason why an element is part of the stored DOM.
type Kind uint8

// The kinds of elements.
const (
	// Interactive elements can be acted on: links, buttons, fields, widgets.
	Interactive Kind = iota
	// Structural elements define the structure of a page: headings, landmarks, images, text, tables, lists, groups, and drawings.
	Structural
	// FrameHost elements contain another document, whose elements follow the host.
	FrameHost
)

// States are the ARIA states and properties that domtap reports.
type States struct {
	Checked, Disabled, Expanded, Selected, Pressed, Required, Readonly, Focused, Invalid Tri
}

// MaxText is the maximum length of Element.Text in characters, without "…".
const MaxText = 100

// Element is one entry of a snapshot. Strings are bounded and free of control characters: Text holds
// at most MaxText characters plus "…", Whole 10,000 plus "…", Value 50, Href and the others 2,048.
type Element struct {
	Ref  Ref
	Kind Kind
	// Parent is the nearest ancestor in the stored DOM, NoRef at the top.
	Parent Ref
	// Depth is the number of ancestors in the stored DOM.
	Depth int
	// Frame is the frame that contains the element. It is empty for the main frame.
	Frame FrameID
	// Child is the frame that a FrameHost contains, if known.
	Child FrameID

	Tag, Role, Text, Href, Name, Type, Value, Placeholder string

	// Whole is the whole text if Text contains only its beginning, and empty otherwise. Left is the number of characters of Whole after the
	// first MaxText.
	Whole string
	Left  int

	// ValueLeft is the number of characters of the value that are not in Value, counted up to 10,000.
	ValueLeft int

	// Hints are words for what a person sees but the name and the states do not contain, separated by spaces: the icon of an element
	// without a name, states that only classes or data attributes show, or controls that appear on hover. They are guesses. Each consists
	// of lower-case letters, digits and hyphens.
	Hints string

	// Join is the number of ancestors, listed or not, of the closest common ancestor of the element and the previous one, in the flat tree
	// of their document: 0 for the document element, at most 4,095. It is known only while structural elements are stored, and 0 otherwise.
	// It describes the element's position and is not content.
	Join int

	// Level is the level of a heading, or 0.
	Level  int
	States States
	// InViewport reports whether the box met the top-level viewport when the boxes were last read.
	InViewport bool
	// Covered reports whether the element was entirely behind a modal when the boxes were last read. The modal must be closed or answered
	// first.
	Covered bool
	// Attributes holds the HTML attributes that callers requested.
	Attributes map[string]string
}

// Key is the stable identity of an element. Elements with equal keys look the same to a person, even after a reload.
type Key struct {
	Tag, Text, Href, Name string
}

// Key returns the element's key.
func (e *Element) Key() Key {
	return Key{Tag: e.Tag, Text: e.Text, Href: e.Href, Name: e.Name}
}

// WholeText returns the element's whole text.
func (e *Element) WholeText() string {
	if e.Whole != "" {
		return e.Whole
	}
	return e.Text
}

// Same reports whether a client would see no difference between the elements. It ignores InViewport and Covered, which are read with the
// box and are not content, Join, and Whole, of which clients see only the length.
func (e *Element) Same(o *Element) bool {
	if e == o {
		return true
	}
	return e.Ref == o.Ref && e.Kind == o.Kind && e.Parent == o.Parent && e.Depth == o.Depth &&
		e.Frame == o.Frame && e.Child == o.Child && e.Key() == o.Key() && e.Role == o.Role &&
		e.Type == o.Type && e.Value == o.Value && e.ValueLeft == o.ValueLeft && e.Placeholder == o.Placeholder &&
		e.Level == o.Level && e.Left == o.Left && e.Hints == o.Hints && e.States == o.States && maps.Equal(e.Attributes, o.Attributes)
}

// Box is a rectangle in CSS pixels.
type Box struct {
	X, Y, Width, Height float64
}

// Meets reports whether the boxes overlap or touch.
func (b Box) Meets(o Box) bool {
	return b.X <= o.X+o.Width && o.X <= b.X+b.Width && b.Y <= o.Y+o.Height && o.Y <= b.Y+b.Height
}

// Snapshot is the whole DOM of a tab at one revision: every element of every observed frame, in document order, with the elements of a
// frame right after the element that contains the frame.
type Snapshot struct {
	// Epoch identifies the sequence of documents in which Revision counts.
	Epoch string
	// Revision increases by one with every published change of the tab.
	Revision uint64
	// Document is the number of the main frame's document. It increases with every cross-document navigation.
	Document uint64
	URL      string
	Title    string
	Elements List
	// History holds the last pages of the tab, oldest first, including the current one. It is part of the snapshot because its cost is part
	// of a view's budget, so that views of a snapshot are reproducible.
	History []Visit
	// Limited reports that the page has more elements than its observers may keep, so that some are missing.
	Limited bool
	// Frames holds the frames other than the main one whose documents are known, including hidden ones. Snapshots share the slice, which is
	// never modified.
	Frames []FrameID
	// PageTime is when the page's observer saw the newest change, by the page's clock.
	PageTime time.Time
	// ObservedAt is when the daemon published the snapshot.
	ObservedAt time.Time
}

// Visit is a page in a tab's history.
type Visit struct {
	URL, Title string
}

// Layout holds the boxes of a snapshot's elements relative to the top-level viewport.
type Layout struct {
	// Viewport is the size of the top-level viewport at the origin.
	Viewport Box
	// Boxes is parallel to Snapshot.Elements.
	Boxes []Box
}

// Find returns the element with a ref, or nil if the snapshot does not contain it.
func (s *Snapshot) Find(ref Ref) *Element {
	for el := range s.Elements.All() {
		if el.Ref == ref {
			return el
		}
	}
	return nil
}
