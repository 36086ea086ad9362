package driver

import (
	"strconv"
	"time"

	"github.com/domtap/domtap/dom"
)

// ActionKind is what an Action does.
type ActionKind uint8

// The kinds of actions.
const (
	// Click presses and releases the mouse at the element, Clicks times.
	Click ActionKind = iota
	// Type focuses the element and types Text behind what is there, key by key; a line break is Enter. With Focused, it types where the caret
	// is, in place of what is selected.
	Type
	// Fill replaces the element's value by Text.
	Fill
	// Press presses the key named by Text, Repeat times or for as long as Hold, at the element when it names one, else at the focus.
	Press
	// Hover moves the mouse over the element.
	Hover
	// Scroll scrolls the element into view; with a Delta it turns the mouse wheel over it, or over the middle of
	// the page when it names none.
	Scroll
	// Select selects the options named by Values, by value or label, and no others.
	Select
	// Check makes the element checked. One that is checked is left alone.
	Check
	// Uncheck makes the element unchecked. One that is unchecked is left alone.
	Uncheck
	// Drag drags the element To another, or by Delta.
	Drag
	// Upload gives Paths and Files to a file input, to what opens a file chooser, or to what files are dropped on.
	Upload
	// MouseDown presses a button at the element, the point, or else at From, and leaves it down.
	MouseDown
	// MouseMove moves the pointer to the element, the point, or else From, and from there by Delta, through Waypoints.
	MouseMove
	// MouseUp releases the button that is down where the pointer is.
	MouseUp
)

// kindNames are the kinds as clients write them.
var kindNames = [...]string{"click", "type", "fill", "press", "hover", "scroll", "select", "check", "uncheck", "drag", "upload", "mouse_down", "mouse_move", "mouse_up"}

// String returns the kind as clients write it, such as "click".
func (k ActionKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "action " + strconv.Itoa(int(k))
}

// IsPointed reports whether the action is done at a point of an element, which is what receives it then.
func (k ActionKind) IsPointed() bool {
	return k == Click || k == Drag || k == MouseDown || k.IsPassive()
}

// IsPassive reports whether the action needs no element that is enabled: it uses none, but moves the pointer or the page.
func (k ActionKind) IsPassive() bool { return k == Hover || k == Scroll || k == MouseMove }

// Point is a place in the top-level viewport, or a distance, in CSS pixels.
type Point struct{ X, Y float64 }

// Element names an element: its ref, and the frame and the document in which it stands. A ref alone is enough for the tab,
// which fills in the others (actor.Exclusive.Where).
type Element struct {
	// Ref is dom.NoRef when no element is named.
	Ref      dom.Ref
	Frame    dom.FrameID
	Document string
}

// Spot is where an action is done: an element, or a point.
type Spot struct {
	// Element counts unless its Ref is dom.NoRef; then Point does.
	Element
	Point *Point
	// Known is what the element must still be; nil: anything.
	Known *Known
}

// At returns the spot of an element, which may be anything.
func At(ref dom.Ref) Spot { return Spot{Element: Element{Ref: ref}} }

// AtPoint returns the spot of a point.
func AtPoint(p Point) Spot { return Spot{Element: Element{Ref: dom.NoRef}, Point: &p} }

// Known is what an action was decided on: its element is not acted on when it is another thing by then. See
// internal/browser/observer/js/39-rows.js for what makes it one.
type Known struct {
	// Name is what the element was called.
	Name string
	// Seen is the mark of the read that the caller knows the element and its row from; 0: the newest one.
	Seen uint64
	// Start is the mark of the read at the start of the turn: the turn itself may change the element afterwards.
	Start uint64
	// Doubtful says that what stands around the element says that it is another thing: it is, unless the page knows its
	// row.
	Doubtful bool
}

// ContextChanged is the cause in the detail of an *apierr.Error of kind Stale: Known.Doubtful, and the page knows no better.
const ContextChanged = "beside"

// Action is one thing to do to one element.
type Action struct {
	Kind ActionKind
	// Spot is where the action is done. Its Point is for Click, Hover, Scroll, MouseDown, MouseMove, and the beginning of a Drag. Without an
	// element and a point, the action is done at the focus (Type, Press), on the page (Scroll) or where the pointer is.
	Spot
	// Focused says of Type that its element is named because it has the focus. One that takes no text gets the keys alone.
	Focused bool
	// From is where the pointer is; nil: not known.
	From *Point
	Text string
	// Words is the text that the caller named the element by, for actions at a point: they are done at that text where the element has
	// more than that. Empty: it was named otherwise.
	Words string
	// Button is "left", "middle" or "right"; empty means left.
	Button    string
	Modifiers []string
	// Clicks is 1 to 3; 0 means 1.
	Clicks int
	// Hold is how long a Click holds the button, a Press its key, and how long a Drag or a MouseDown waits behind the press.
	Hold time.Duration
	// Repeat is 1 to 100; 0 means 1.
	Repeat int
	Values []string
	// To is where a Drag ends; nil: Delta says it.
	To    *Spot
	Delta Point
	// Waypoints are where a Drag or a MouseMove passes on its way, in order.
	Waypoints []Spot
	// Moves is in how many moves a MouseMove goes along each line; 0: as many as a Drag.
	Moves int
	// Paths are files on this machine that may be given away.
	Paths []string
	Files []File
}

// File is a file that travels with an action.
type File struct {
	// Name is without a path.
	Name    string
	Content []byte
}

// Aimless reports whether the action names neither an element nor a point, for it needs none.
func (a Action) Aimless() bool {
	switch a.Kind {
	case Press, Scroll, Type, MouseDown, MouseMove, MouseUp:
		return a.Ref == dom.NoRef && a.Point == nil
	}
	return false
}

// Delivered says how much of an action reached the element that it names; see domtap.v1.Delivered.
type Delivered uint8

// How much was delivered.
const (
	// DeliveredUnset: all when the action succeeded, nothing when it failed. Steps that act on no element keep it.
	DeliveredUnset Delivered = iota
	// DeliveredAll: the element received the whole action.
	DeliveredAll
	// DeliveredPart: the element received a part, such as a press without its click. It goes with an error.
	DeliveredPart
	// DeliveredNone: the element received nothing, or it is not known that it received anything.
	DeliveredNone
)

// OrDefault resolves DeliveredUnset by the error that an action ended with.
func (d Delivered) OrDefault(err error) Delivered {
	switch {
	case d != DeliveredUnset:
		return d
	case err == nil:
		return DeliveredAll
	}
	return DeliveredNone
}

// InView stands in the note of a Scroll, before the lines that are visible then.
const InView = "; in view: "

// DoResult is how an action went. It counts beside an error, too: it says how much of the action was delivered then.
type DoResult struct {
	// Delivered is DeliveredPart only beside an error.
	Delivered Delivered
	// Moved says that a Drag left the element, which still is the same, elsewhere on the page.
	Moved bool
	// Note says in a few words what is worth knowing besides, such as "already checked"; often nothing. After Holds, it has the
	// quoted text that the element holds instead of the one it was given.
	Note string
	// Aim is where the pointer was when it acted last; nil: the action used none, or did not come so far.
	Aim *Aim
}

// Holds begins a Note.
const Holds = "ok, holds "

// Aim is where the pointer is, and the border box of the element that it acts on, in CSS pixels of the top-level viewport. The
// box is empty where the pointer acts on no element.
type Aim struct {
	Point Point
	Box   dom.Box
}
