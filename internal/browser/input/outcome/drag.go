package outcome

import (
	"fmt"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Displacement is what became of an element that was dragged.
type Displacement struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Stays bool    `json:"stays"`
	// Gone says that neither it nor anything like it is on the page any more.
	Gone bool `json:"gone"`
	// From says which one it was in its parent, 0: in another parent, and To which one it is; 0: not known.
	From int `json:"from"`
	To   int `json:"to"`
}

// Note says how the element was moved; empty: not.
func (d Displacement) Note() string {
	switch {
	case d.Gone:
		return goneNote
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

// goneNote is the note of an element that the page took away when it was dropped.
const goneNote = "ok, and it is gone from where it was"

// nothingTookIt is the note of a drop that no element of the page accepted.
const nothingTookIt = "ok, dropped, and nothing there took it"

// Dragged is the result of a drag whose element was moved so, or stays where it was.
func Dragged(got Press, moved driver.DoResult, stays bool) driver.DoResult {
	switch {
	case moved.Moved:
	case got.Effect == "none":
		moved.Note = nothingTookIt
	case got.Effect == "" && stays:
		moved.Note = "ok, it did not move"
	}
	return moved
}

// ReleasedOffTarget is the result of a drag of ref that was released where its target was not any more. Lists move their
// items as one is dragged over them: there it has arrived when it stays where it was put. Otherwise nobody received it.
func ReleasedOffTarget(dragged, target dom.Ref, result driver.DoResult) (driver.DoResult, error) {
	ref, to := strconv.FormatUint(uint64(dragged), 10), strconv.FormatUint(uint64(target), 10)
	if result.Note == goneNote {
		return result, nil
	}
	if result.Moved {
		result.Note += ", to where ref " + to + " was, which moved meanwhile"
		return result, nil
	}
	return driver.DoResult{Delivered: driver.DeliveredPart}, &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"ref": ref, "to": to, "cause": "moving"},
		Message: "ref " + ref + " was dragged, and released beside ref " + to + ", which moved meanwhile: read the page to see where it is before you try again"}
}

// DragUnfinished is the error of a drag whose document was replaced before the release.
func DragUnfinished(dragged dom.Ref, err error) error {
	ref := strconv.FormatUint(uint64(dragged), 10)
	return &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"ref": ref, "cause": "navigated"}, Err: err,
		Message: "the drag of ref " + ref + " was not finished: the page went on to another document meanwhile: read the page"}
}
