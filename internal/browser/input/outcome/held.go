package outcome

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// Held is what the document of a press received while the button was down.
type Held struct {
	// Element names what is under the pointer, or what received the click.
	Element
	// Moves is how many moves the document received.
	Moves int `json:"moves"`
	// Dragging says that the moves have started a drag and drop.
	Dragging bool `json:"dragging"`
	// Effect is what the end of a drag of data did; "none": nothing took the data. Empty: it is not known.
	Effect string `json:"effect"`
	// Released says that it received the release, and Clicked that a click followed.
	Released bool `json:"released"`
	Clicked  bool `json:"clicked"`
	// Gone says that the document is another one by now.
	Gone bool `json:"gone"`
}

// notReceived is the error of a part of a hold that the page did not receive.
func (h Held) notReceived(what string) (driver.DoResult, error) {
	cause, why := "elsewhere", "the page that was pressed did not receive it"
	if h.Gone {
		cause, why = "navigated", "the page went on to another document while the button was down"
	}
	return driver.DoResult{Delivered: driver.DeliveredNone}, &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"cause": cause},
		Message: "it is not known that anything received the " + what + ": " + why + ": read the page to see"}
}

// Moved is the result of moves with the button down.
func (h Held) Moved() (driver.DoResult, error) {
	if h.Gone || h.Moves == 0 {
		return h.notReceived("moves")
	}
	if h.Detail == "" {
		return driver.DoResult{Note: "ok, outside of what the page shows"}, nil
	}
	return driver.DoResult{Note: "ok, on " + h.Named()}, nil
}

// Result is the result of the release; moved says how the pressed element was moved. The release ends a drag of data as a drop,
// which its document does not hear of as a release.
func (h Held) Result(moved driver.DoResult, dropped bool) (driver.DoResult, error) {
	switch {
	case dropped && h.Effect == "none":
		moved.Note = nothingTookIt
		return moved, nil
	case dropped && moved.Moved:
		return moved, nil
	case dropped:
		moved.Note = "ok, dropped"
		return moved, nil
	case h.Gone && h.Released:
		return driver.DoResult{Note: "ok, and the page went on to another document"}, nil
	case !h.Released:
		return h.notReceived("release")
	case moved.Moved:
		return moved, nil
	case h.Clicked:
		moved.Note = "ok, clicked " + h.Named()
	case h.Detail != "":
		moved.Note = "ok, on " + h.Named()
	}
	return moved, nil
}
