// Package dom has the values that the packages of domtap exchange: elements, their keys, snapshots of a
// tab, and the patches that lead from one state of a document to the next.
//
// Values are immutable once published: a *Snapshot or an *Element may be read from any goroutine at any
// time, and nobody may write to it. A new state is a new Snapshot that shares the pointers of all elements
// that did not change, so that comparing two snapshots of one tab is mostly comparing pointers.
package dom

import (
	"maps"
	"math"
	"time"
)

// Ref identifies an element within its tab. Each DOM node gets one ref, in document order when it is first
// observed, starting at 0. No other node of the tab ever gets the same ref, but for the equal one that the
// page replaced it by, where it is certain which one that is.
type Ref uint32

// NoRef stands for "no element".
const NoRef Ref = math.MaxUint32

// FrameID names a frame of a tab. The main frame is the empty string in Element.Frame.
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

// Kind says why an element is part of the stored DOM.
type Kind uint8

// The kinds of elements.
const (
	// Interactive elements can be acted on: links, buttons, fields, widgets.
	Interactive Kind = iota
	// Structural elements give a page its shape: headings, landmarks, images, text, tables,
	// lists, groups, and what is drawn.
	Structural
	// FrameHost elements contain another document, whose elements follow the host.
	FrameHost
)

// States are the ARIA states and properties that domtap reports.
type States struct {
	Checked, Disabled, Expanded, Selected, Pressed, Required, Readonly, Focused, Invalid Tri
}

// MaxText is how many characters of a text Element.Text has at most, "…" not counted.
const MaxText = 100

// Element is one entry of a snapshot. Strings are bounded and free of control characters: Text holds
// at most MaxText characters plus "…", Whole 10,000 plus "…", Value 50, Href and the others 2,048.
type Element struct {
	Ref  Ref
	Kind Kind
	// Parent is the nearest ancestor in the stored DOM, NoRef at the top.
	Parent Ref
	// Depth counts the ancestors in the stored DOM.
	Depth int
	// Frame is the frame that holds the element; empty for the main frame.
	Frame FrameID
	// Child is, for a FrameHost, the frame that it holds, when it is known.
	Child FrameID

	Tag, Role, Text, Href, Name, Type, Value, Placeholder string

	// Whole is all of the text when Text has only the beginning of it, else empty. Left is how many characters
	// of Whole are behind the first MaxText.
	Whole string
	Left  int

	// ValueLeft is how many characters of the value are behind those in Value, counted up to 10,000.
	ValueLeft int

	// Hints are words for what a person sees and the name and the states do not say, separated by spaces: the icon of
	// an element without a name, states that only classes or data attributes tell, the controls that show while the pointer is over it. They
	// are guesses. Each is of small letters, digits and hyphens.
	Hints string

	// Join is how many ancestors, listed or not, the closest common ancestor of the element and the one before it has
	// in the flat tree of their document: 0 for the document element, at most 4,095. It is kept while structural elements
	// are, and 0 before. It places the element among the others and is not content.
	Join int

	// Level is the level of a heading, 0 where it does not apply.
	Level  int
	States States
	// InViewport says that the box met the top-level viewport when the boxes were last read.
	InViewport bool
	// Covered says that the element was entirely behind a modal when the boxes were last read: the modal has
	// to be closed or answered first.
	Covered bool
	// Attributes holds the HTML attributes that callers asked for.
	Attributes map[string]string
}

// Key is the stable identity of an element: elements of equal keys look the same to a person, also after a
// reload.
type Key struct {
	Tag, Text, Href, Name string
}

// Key returns the element's key.
func (e *Element) Key() Key {
	return Key{Tag: e.Tag, Text: e.Text, Href: e.Href, Name: e.Name}
}

// WholeText returns all of the element's text.
func (e *Element) WholeText() string {
	if e.Whole != "" {
		return e.Whole
	}
	return e.Text
}

// Same reports whether a client would see no difference between the elements: all fields are equal
// but InViewport and Covered, which are read with the box and are not content, Join, and Whole, of which clients
// see the length.
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

// Snapshot is the whole DOM of a tab at one revision: every element of every observed frame, in
// document order, with the elements of a frame right behind the element that holds the frame.
type Snapshot struct {
	// Epoch names the line of documents that Revision counts in.
	Epoch string
	// Revision grows by one with every published change of the tab.
	Revision uint64
	// Document counts the documents of the main frame; it grows with every cross-document navigation.
	Document uint64
	URL      string
	Title    string
	Elements List
	// History holds the last pages of the tab, oldest first, this one included. It is part of the snapshot so
	// that a view of it, whose budget pays for the history too, is the same whenever it is made.
	History []Visit
	// Limited says that the page has more elements than its observers may keep, and that some are missing here.
	Limited bool
	// Frames are the frames other than the main one with a known document, hidden ones included. Snapshots share the list,
	// which is never changed.
	Frames []FrameID
	// PageTime is when the page's observer saw the newest change, by the page's clock.
	PageTime time.Time
	// ObservedAt is when the daemon published the snapshot.
	ObservedAt time.Time
}

// Visit is a page that a tab showed.
type Visit struct {
	URL, Title string
}

// Layout holds the boxes of a snapshot's elements relative to the top-level viewport.
type Layout struct {
	// Viewport is the size of the top-level viewport at the origin.
	Viewport Box
	// Boxes stands parallel to Snapshot.Elements.
	Boxes []Box
}

// Find returns the element of a ref, nil when the snapshot has none.
func (s *Snapshot) Find(ref Ref) *Element {
	for el := range s.Elements.All() {
		if el.Ref == ref {
			return el
		}
	}
	return nil
}
