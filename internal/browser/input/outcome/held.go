package outcome

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// Held reports what the document of a press received while the button was down.
type Held struct {
	// Element names the element under the pointer, or the receiver of the click.
	Element
	// Moves is the number of moves that the document received.
	Moves int `json:"moves"`
	// Dragging reports that the moves have started a drag and drop.
	Dragging bool `json:"dragging"`
	// Effect is the effect of a finished drag of data. "none" means that nothing accepted the data. An empty string means unknown.
	Effect string `json:"effect"`
	// Released reports that the document received the release. Clicked reports that a click followed.
	Released bool `json:"released"`
	Clicked  bool `json:"clicked"`
	// Gone reports that the document was replaced.
	Gone bool `json:"gone"`
}

// notReceived returns the error for moves or a release that the page did not receive.
func (h Held) notReceived(what string) (driver.DoResult, error) {
	cause, why := "elsewhere", "the page where the button was pressed received nothing"
	if h.Gone {
		cause, why = "navigated", "the page navigated while the button was down"
	}
	return driver.DoResult{Delivered: driver.DeliveredNone}, &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"cause": cause},
		Message: "it is unknown whether anything received the " + what + ": " + why + ": read the page to see"}
}

// Moved returns the result of moves with the button down.
func (h Held) Moved() (driver.DoResult, error) {
	if h.Gone || h.Moves == 0 {
		return h.notReceived("moves")
	}
	if h.Detail == "" {
		return driver.DoResult{Detail: "ok, outside the viewport"}, nil
	}
	return driver.DoResult{Detail: "ok, on " + h.Named()}, nil
}

// Result returns the result of the release. moved describes how the pressed element moved. If dropped is set, the release ended a drag of
// data, which the document receives as a drop and not as a release.
func (h Held) Result(moved driver.DoResult, dropped bool) (driver.DoResult, error) {
	switch {
	case dropped && h.Effect == "none":
		moved.Detail = noReceiver
		return moved, nil
	case dropped && moved.Moved:
		return moved, nil
	case dropped:
		moved.Detail = "ok, dropped"
		return moved, nil
	case h.Gone && h.Released:
		return driver.DoResult{Detail: "ok, and the page navigated"}, nil
	case !h.Released:
		return h.notReceived("release")
	case moved.Moved:
		return moved, nil
	case h.Clicked:
		moved.Detail = "ok, clicked " + h.Named()
	case h.Detail != "":
		moved.Detail = "ok, on " + h.Named()
	}
	return moved, nil
}
