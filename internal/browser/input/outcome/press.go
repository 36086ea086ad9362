package outcome

import (
	"fmt"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Press reports what an element received of a mouse press.
type Press struct {
	Element
	// Reached reports that the element received the first event. Presses and Clicks count the events that it received.
	Reached bool `json:"reached"`
	Presses int  `json:"presses"`
	Clicks  int  `json:"clicks"`
	// Complete reports that the element received everything it should. It is also set if the page removed the element while handling the
	// press, so that no click could follow. Captured reports that an element that had captured the pointer received the click.
	Complete bool `json:"complete"`
	Captured bool `json:"captured"`
	// Unclickable is why no click can reach the element any more: "removed", "hidden", "disabled" or, if the page handled the press,
	// "covered". It is empty if the element is clickable.
	Unclickable string `json:"unclickable"`
	// Navigated reports that the page started to navigate after the press.
	Navigated bool `json:"navigated"`
	// Leaving reports that the page had started to navigate before the press.
	Leaving  bool `json:"leaving"`
	Dragging bool `json:"dragging"`
	// Effect is the effect of a finished drag of data. "none" means that nothing accepted the data. An empty string means unknown, or no
	// drag.
	Effect string `json:"effect"`
	// OffTarget reports that a drag was released where its target no longer was.
	OffTarget bool `json:"offTarget"`
	// MayDrag reports that moves with the button down may start a drag of data.
	MayDrag bool `json:"mayDrag"`
	// Held reports that the element received the press of a held button.
	Held bool `json:"-"`
	// Unknown reports that the document was gone before it could report.
	Unknown bool `json:"-"`
}

// unclickable maps the values of Unclickable to what the page did with the element.
var unclickable = map[string]string{"removed": "removed it", "hidden": "hid it", "disabled": "disabled it", "covered": "covered it"}

// OfGoneDocument adjusts the last report of a document that was replaced. A press that led to the next document is complete.
func (p Press) OfGoneDocument() Press {
	p.Complete = p.Complete || p.Navigated && p.Presses > 0
	return p
}

// OfDocumentGoneSinceDown adjusts the report of a document that was sent at the mousedown and was the last one before the document was
// replaced. The press counts as the cause of the navigation, unless the page was already navigating.
func (p Press) OfDocumentGoneSinceDown() Press {
	if p.Presses == 0 || p.Leaving {
		return Press{Unknown: true}
	}
	p.Navigated = true
	return p.OfGoneDocument()
}

// Note returns remarks about a delivered press. It is often empty.
func (p Press) Note() string {
	switch {
	case p.Clicks > 0 && p.Was != p.Now:
		return fmt.Sprintf("ok, but it was called %s when it was pressed and %s when it was clicked", quoted(p.Was), quoted(p.Now))
	case p.Captured:
		return "ok, by the element around it that captured the pointer"
	case p.Unclickable != "" && p.Presses > p.Clicks:
		return "ok, pressed: the page " + unclickable[p.Unclickable] + " during the press, so there was no click"
	case p.Navigated && p.Presses > p.Clicks:
		return "ok, pressed: the page navigated before the click"
	}
	return ""
}

// HeldNote describes how long an element was held, such as "1s", and why no click followed, if none did.
func (p Press) HeldNote(held string) string {
	note := "ok, held for " + held
	switch {
	case p.Complete && p.Clicks > 0:
	case p.Unclickable != "":
		note += ": the page " + unclickable[p.Unclickable] + " during the press, so there was no click"
	case p.Detail != "":
		note += ": then " + p.Named() + " was in its place, so there was no click"
	default:
		note += "; no click followed"
	}
	return note
}

// Partial returns the result of a press that the element received in part. wanted is the requested number of clicks.
func (p Press) Partial(s driver.Location, wanted int) (driver.DoResult, error) {
	ref := strconv.FormatUint(uint64(s.Ref), 10)
	detail := map[string]string{"ref": ref, "cause": "replaced", "presses": strconv.Itoa(p.Presses), "clicks": strconv.Itoa(p.Clicks)}
	result := driver.DoResult{Delivered: driver.DeliveredPart}
	subject := "ref " + ref
	if s.Ref == dom.NoRef {
		subject = fmt.Sprintf("the element at %g,%g", s.Point.X, s.Point.Y)
	}
	what := subject + " was pressed, but not clicked"
	switch {
	case p.Presses == 0:
		what = subject + " received the pointer, but not the press"
	case wanted > 1:
		what = fmt.Sprintf("%s was clicked %d of %d times", subject, p.Clicks, wanted)
	}
	why := "no click followed"
	switch {
	case p.Unknown:
		result.Delivered, detail["cause"] = driver.DeliveredNone, "navigated"
		what, why = "it is unknown whether "+subject+" was clicked", "its document was gone before it could report"
	case p.Unclickable != "":
		why, detail["cause"] = "the page "+unclickable[p.Unclickable]+" during the press", p.Unclickable
		if p.Cover != nil {
			why += ", and then " + p.Named() + " was in its place"
		}
	case p.Detail != "":
		why = "then " + p.Named() + " was in its place"
	}
	p.addReceiver(detail)
	message := what + ": " + why + ": read the page to see its effect before you try again"
	return result, &apierr.Error{Kind: apierr.NotDelivered, Message: message, Detail: detail}
}

// addReceiver adds the actual receiver of an event to the details of an error.
func (e Element) addReceiver(detail map[string]string) {
	if e.Detail != "" {
		detail["went_to"] = e.Detail
	}
	if e.Cover != nil {
		detail["went_to_ref"] = strconv.FormatUint(uint64(*e.Cover), 10)
	}
}

// Missed returns the error of a press that reached another element.
func (p Press) Missed(s driver.Location, a driver.Action) error {
	p.Error = "covered"
	if p.Detail == "" {
		p.Error = "moving"
	}
	return p.Refusal(s, a)
}
