package outcome

import (
	"fmt"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Displacement describes what became of a dragged element.
type Displacement struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Stays bool    `json:"stays"`
	// Content is how far the content of the element moved while the element itself did not move, as when a map is panned. Canvas reports
	// that the element did not move, but that a canvas in it may show something else.
	Content Shift `json:"content"`
	Canvas  bool  `json:"canvas"`
	// Gone reports that neither the element nor a similar one is on the page any more.
	Gone bool `json:"gone"`
	// From is the element's former position in its parent, or 0 if it had another parent. To is its current position. Zero means unknown.
	From int `json:"from"`
	To   int `json:"to"`
}

// Shift is a distance in CSS pixels.
type Shift struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Moved reports whether the element or its content is in another place, or gone.
func (d Displacement) Moved() bool { return d.Gone || d.X != 0 || d.Y != 0 || d.Content != Shift{} }

// Note describes how the element or its content moved. It returns an empty string if neither is known to have moved.
func (d Displacement) Note() string {
	switch {
	case d.Gone:
		return goneNote
	case d.Content != Shift{}:
		return fmt.Sprintf("ok, its content moved by %g,%g", d.Content.X, d.Content.Y)
	case d.Canvas:
		return "ok, it stays in its place; a screenshot shows what its canvas draws now"
	case d.X == 0 && d.Y == 0:
		return ""
	}
	note := fmt.Sprintf("ok, it moved by %g,%g", d.X, d.Y)
	switch {
	case d.To == 0 || d.From == d.To:
	case d.From == 0:
		note += fmt.Sprintf(", into another group as number %d", d.To)
	default:
		note += fmt.Sprintf(", from %d to %d in its group", d.From, d.To)
	}
	return note
}

// goneNote is the note for an element that the page removed when it was dropped.
const goneNote = "ok, and the page removed it from its place"

// noReceiver is the note for a drop that no element accepted.
const noReceiver = "ok, dropped, and nothing there took it"

// Dragged returns the result of a drag. moved describes the movement of the element. stays reports that the element stays where it was.
func Dragged(got Press, moved driver.DoResult, stays bool) driver.DoResult {
	switch {
	case moved.Moved || moved.Detail != "":
	case got.Effect == "none":
		moved.Detail = noReceiver
	case got.Effect == "" && stays:
		moved.Detail = "ok, it did not move"
	}
	return moved
}

// ReleasedOffTarget returns the result of a drag that was released at a point that its target had left. Lists move their items during a
// drag, so an element that has moved or is gone counts as delivered. Otherwise the result is an error.
func ReleasedOffTarget(dragged, target dom.Ref, result driver.DoResult) (driver.DoResult, error) {
	ref, to := strconv.FormatUint(uint64(dragged), 10), strconv.FormatUint(uint64(target), 10)
	if result.Detail == goneNote {
		return result, nil
	}
	if result.Moved {
		result.Detail += ", to the former place of ref " + to + ", which moved during the drag"
		return result, nil
	}
	return driver.DoResult{Delivered: driver.DeliveredPart}, &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"ref": ref, "to": to, "cause": "moving"},
		Message: "ref " + ref + " was released beside ref " + to + ", which moved during the drag: read the page to see where ref " + ref + " is before you try again"}
}

// DragUnfinished returns the error of a drag whose document was replaced before the release.
func DragUnfinished(dragged dom.Ref, err error) error {
	ref := strconv.FormatUint(uint64(dragged), 10)
	return &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"ref": ref, "cause": "navigated"}, Err: err,
		Message: "the drag of ref " + ref + " was not finished: the page navigated during the drag: read the page"}
}
