package driver

import (
	"strconv"
	"time"

	"github.com/domtap/domtap/dom"
)

// ActionKind identifies what an Action does.
type ActionKind uint8

// The kinds of actions.
const (
	// Click presses and releases the mouse at the element, Clicks times.
	Click ActionKind = iota
	// Type focuses the element and types Text after its content, key by key; a line break presses Enter. With Focused, it types at the
	// caret and replaces the selection.
	Type
	// Fill replaces the element's value with Text.
	Fill
	// Press presses the key named by Text, Repeat times or for the duration Hold. It acts on the element if one is named, and otherwise on
	// the focused element.
	Press
	// Hover moves the mouse over the element.
	Hover
	// Scroll scrolls the element into view. With a Delta it turns the mouse wheel over the element, or over the middle of the page if no
	// element is named.
	Scroll
	// Select selects exactly the options that Values names, by value or label.
	Select
	// Check checks the element. It does nothing if the element is already checked.
	Check
	// Uncheck unchecks the element. It does nothing if the element is already unchecked.
	Uncheck
	// Drag drags the element to To, or by Delta.
	Drag
	// Upload passes Paths and Files to a file input, to an element that opens a file chooser, or to a drop target.
	Upload
	// MouseDown presses a button at the element or the point, or else at From, and keeps it pressed.
	MouseDown
	// MouseMove moves the pointer to the element or the point, or else to From, and from there by Delta, through Waypoints.
	MouseMove
	// MouseUp releases the pressed button at the pointer's position.
	MouseUp
	// Leave takes the focus from the focused element of the element's frame.
	Leave
)

// kindNames are the names of the kinds in the API.
var kindNames = [...]string{"click", "type", "fill", "press", "hover", "scroll", "select", "check", "uncheck", "drag", "upload", "mouse_down", "mouse_move", "mouse_up", "leave"}

// String returns the API's name of the kind, such as "click".
func (k ActionKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "action " + strconv.Itoa(int(k))
}

// IsPointed reports whether the action is performed at a point of an element, which then receives it.
func (k ActionKind) IsPointed() bool {
	return k == Click || k == Drag || k == MouseDown || k.IsPassive()
}

// IsPassive reports whether the action works on a disabled element, because it only moves the pointer or scrolls the page.
func (k ActionKind) IsPassive() bool { return k == Hover || k == Scroll || k == MouseMove }

// Point is a position in the top-level viewport, or a distance, in CSS pixels.
type Point struct{ X, Y float64 }

// Element identifies an element by its ref, its frame and its document. Callers of a tab need to set only Ref; the tab fills in the others
// (actor.Exclusive.Where).
type Element struct {
	// Ref is dom.NoRef if no element is named.
	Ref      dom.Ref
	Frame    dom.FrameID
	Document string
}

// Location is the element or the point at which an action acts.
type Location struct {
	// Element is used unless its Ref is dom.NoRef. In that case Point is used.
	Element
	Point *Point
	// ExpectedElement is the expected identity of the element. If nil, it is not checked.
	Expected *ExpectedElement
}

// At returns the location of an element, without an ExpectedElement.
func At(ref dom.Ref) Location { return Location{Element: Element{Ref: ref}} }

// AtPoint returns the location of a point.
func AtPoint(p Point) Location { return Location{Element: Element{Ref: dom.NoRef}, Point: &p} }

// ExpectedElement describes the element that the caller decided to act on. If the element has become a different one since then, the action
// fails. See internal/browser/observer/js/39-rows.js for the criteria.
type ExpectedElement struct {
	// Name is the name that the element had.
	Name string
	// Seen is the mark of the read from which the caller knows the element and its row. 0 means the newest read.
	Seen uint64
	// Start is the mark of the read at the start of the turn. The turn itself may change the element after that.
	Start uint64
	// Doubtful reports that the element's surroundings suggest a different element. The action then fails unless the page recognizes the
	// element's row.
	Doubtful bool
}

// ContextChanged is the cause in the Detail of an *apierr.Error of kind Stale when ExpectedElement.Doubtful is set and the page does not
// recognize the row.
const ContextChanged = "beside"

// Action is an action on one element.
type Action struct {
	Kind ActionKind
	// Location is where the action acts. Its Point is used by Click, Hover, Scroll, MouseDown, MouseMove, and the start of a Drag. Without an
	// element and a point, the action applies to the focused element (Type, Press), to the page (Scroll), or to the pointer's position.
	Location
	// Focused is set for Type if the element is named only because it has the focus. An element that accepts no text then receives only the
	// keys.
	Focused bool
	// From is the pointer's position, or nil if unknown.
	From *Point
	Text string
	// Search means that the text of Fill only filters a list, so it must not become a tag.
	Search bool
	// Tag means that the text of Fill must become a tag: a field without signs that it takes tags refuses it.
	Tag bool
	// Words is the text by which the caller named the element. If the element has more text than that, actions at a point are performed at
	// this text. It is empty if the element was named in another way.
	Words string
	// Button is "left", "middle" or "right"; empty means left.
	Button    string
	Modifiers []string
	// Clicks is 1 to 3; 0 means 1.
	Clicks int
	// Hold is how long a Click holds the button or a Press its key, and how long a Drag or a MouseDown waits after the press.
	Hold time.Duration
	// Repeat is 1 to 100; 0 means 1.
	Repeat int
	Values []string
	// To is the end of a Drag. If nil, Delta is used.
	To    *Location
	Delta Point
	// Waypoints are the places that a Drag or a MouseMove passes, in order.
	Waypoints []Location
	// Moves is the number of moves that a MouseMove makes along each line. 0 means the number that a Drag makes.
	Moves int
	// Paths are files on this machine that may be uploaded.
	Paths []string
	Files []File
}

// File is a file whose content is part of the action.
type File struct {
	// Name is the file name without a path.
	Name    string
	Content []byte
}

// Untargeted reports whether the action names neither an element nor a point, and is of a kind that needs none.
func (a Action) Untargeted() bool {
	switch a.Kind {
	case Press, Scroll, Type, MouseDown, MouseMove, MouseUp:
		return a.Ref == dom.NoRef && a.Point == nil
	}
	return false
}

// Delivered reports how much of an action reached the element that it names; see domtap.v1.Delivered.
type Delivered uint8

// The values of Delivered.
const (
	// DeliveredUnset means DeliveredAll if the action succeeded and DeliveredNone if it failed. Steps that act on no element keep it.
	DeliveredUnset Delivered = iota
	// DeliveredAll means that the element received the whole action.
	DeliveredAll
	// DeliveredPart means that the element received a part of the action, such as a press without its click. It always comes with an error.
	DeliveredPart
	// DeliveredNone means that the element received nothing, as far as is known.
	DeliveredNone
)

// OrDefault replaces DeliveredUnset according to the error of the action.
func (d Delivered) OrDefault(err error) Delivered {
	switch {
	case d != DeliveredUnset:
		return d
	case err == nil:
		return DeliveredAll
	}
	return DeliveredNone
}

// InView precedes the list of visible lines in the Note of a Scroll.
const InView = "; in view: "

// These end the Note of a Scroll that moved nothing as far as the main document can see.
const (
	WheelUnused  = "nothing scrolled: it is at its end, or does not scroll"
	WheelHandled = "ok, the page handled the wheel itself"
	WheelInFrame = "ok, a frame under the pointer may have scrolled"
)

// DoResult is the result of an action. It is valid even with an error, and then reports how much of the action was delivered.
type DoResult struct {
	// Delivered is DeliveredPart only with an error.
	Delivered Delivered
	// Moved reports whether a Drag moved the element, which is still the same one, to another place on the page.
	Moved bool
	// Altered reports whether the element changed in a way that its reported text does not show: a secret text, or the format of a text.
	Altered bool
	// TagAdded reports that the text of a Fill became a tag.
	TagAdded bool
	// Detail is additional information in a few words, such as "already checked". It is often empty. After the prefix Holds, it quotes the
	// text that the element contains instead of the text that it was given.
	Detail string
	// Pointer is the position of the pointer when it last acted. It is nil if the action used no pointer or did not get that far.
	Pointer *PointerPosition
}

// Holds is the prefix of a Detail that quotes the element's text.
const Holds = "ok, holds "

// TagAdded is the Detail of a Fill whose text became a tag.
const TagAdded = "ok, added as a tag with Enter"

// PointerPosition is the pointer's position and the border box of the element that it acts on, in CSS pixels of the top-level viewport. The box is
// empty if the pointer acts on no element.
type PointerPosition struct {
	Point Point
	Box   dom.Box
}
