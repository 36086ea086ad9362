package outcome

import (
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

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
