package outcome

import (
	"fmt"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Press is what an element received of a press of the mouse.
type Press struct {
	Element
	// Reached says that the element received the first event, and Presses and Clicks how many of each it received.
	Reached bool `json:"reached"`
	Presses int  `json:"presses"`
	Clicks  int  `json:"clicks"`
	// Complete says that this is all that the element was to receive; also when the page took the element away while it
	// handled the press, so that no click could follow. Captured says that what had captured the pointer took the click.
	Complete bool `json:"complete"`
	Captured bool `json:"captured"`
	// Unclickable is empty, or why no click can reach the element any more: "removed", "hidden", "disabled" or, when the page took
	// the press, "covered".
	Unclickable string `json:"unclickable"`
	// Navigated says that the page set out for another document after the press.
	Navigated bool `json:"navigated"`
	// Leaving says that it had set out for one before the press.
	Leaving  bool `json:"leaving"`
	Dragging bool `json:"dragging"`
	// Effect is what the end of a drag of data did; "none": nothing took the data. Empty: it is not known, or nothing was dragged.
	Effect string `json:"effect"`
	// OffTarget says that a drag was released where its target was not any more.
	OffTarget bool `json:"offTarget"`
	// MayDrag says of a button that stays down that moves may begin a drag of data.
	MayDrag bool `json:"mayDrag"`
	// Held says that the element received the press of a button that was held.
	Held bool `json:"-"`
	// Unknown says that the document was gone before it could report anything.
	Unknown bool `json:"-"`
}

// unclickable say what a page did with an element that was pressed.
var unclickable = map[string]string{"removed": "removed it", "hidden": "hid it", "disabled": "disabled it", "covered": "covered it"}

// OfGoneDocument is the outcome that a document reported by itself before it was replaced: a press that led to the next
// document is complete.
func (p Press) OfGoneDocument() Press {
	p.Complete = p.Complete || p.Navigated && p.Presses > 0
	return p
}

// OfDocumentGoneSinceDown is the outcome that a document reported by itself with the mousedown, before the page handled it, and
// that was replaced without another report: the press led to the next document, unless the page had set out for that before.
func (p Press) OfDocumentGoneSinceDown() Press {
	if p.Presses == 0 || p.Leaving {
		return Press{Unknown: true}
	}
	p.Navigated = true
	return p.OfGoneDocument()
}

// Note says what is worth knowing of a press that was delivered; often nothing.
func (p Press) Note() string {
	switch {
	case p.Clicks > 0 && p.Was != p.Now:
		return fmt.Sprintf("ok, but it was called %s when it was pressed and %s when it was clicked", quoted(p.Was), quoted(p.Now))
	case p.Captured:
		return "ok, by what had captured the pointer around it"
	case p.Unclickable != "" && p.Presses > p.Clicks:
		return "ok, pressed: the page " + unclickable[p.Unclickable] + " while it handled that, so there was no click"
	case p.Navigated && p.Presses > p.Clicks:
		return "ok, pressed: the page went on to another document before the click"
	}
	return ""
}

// HeldNote says for how long an element was held, such as "1s", and why no click followed, if none did.
func (p Press) HeldNote(held string) string {
	note := "ok, held for " + held
	switch {
	case p.Complete && p.Clicks > 0:
	case p.Unclickable != "":
		note += ": the page " + unclickable[p.Unclickable] + " meanwhile, so there was no click"
	case p.Detail != "":
		note += ": then " + p.Named() + " was in its place, so there was no click"
	default:
		note += "; no click came"
	}
	return note
}

// Partial is the result of a press of which the element received a part. Wanted is how often it was to be clicked.
func (p Press) Partial(s driver.Spot, wanted int) (driver.DoResult, error) {
	ref := strconv.FormatUint(uint64(s.Ref), 10)
	detail := map[string]string{"ref": ref, "cause": "replaced", "presses": strconv.Itoa(p.Presses), "clicks": strconv.Itoa(p.Clicks)}
	result := driver.DoResult{Delivered: driver.DeliveredPart}
	subject := "ref " + ref
	if s.Ref == dom.NoRef {
		subject = fmt.Sprintf("what was at %g,%g", s.Point.X, s.Point.Y)
	}
	what := subject + " was pressed, but not clicked"
	switch {
	case p.Presses == 0:
		what = subject + " received the pointer, but not the press"
	case wanted > 1:
		what = fmt.Sprintf("%s was clicked %d of %d times", subject, p.Clicks, wanted)
	}
	why := "no click came"
	switch {
	case p.Unknown:
		result.Delivered, detail["cause"] = driver.DeliveredNone, "navigated"
		what, why = "it is not known whether "+subject+" was clicked", "its document was gone before it could be asked"
	case p.Unclickable != "":
		why, detail["cause"] = "the page "+unclickable[p.Unclickable]+" meanwhile", p.Unclickable
		if p.Cover != nil {
			why += ", and then " + p.Named() + " was in its place"
		}
	case p.Detail != "":
		why = "then " + p.Named() + " was in its place"
	}
	p.addReceiver(detail)
	message := what + ": " + why + ": read the page to see whether it did anything before you try again"
	return result, &apierr.Error{Kind: apierr.NotDelivered, Message: message, Detail: detail}
}

// addReceiver names in the detail of an error what received the event instead.
func (e Element) addReceiver(detail map[string]string) {
	if e.Detail != "" {
		detail["went_to"] = e.Detail
	}
	if e.Cover != nil {
		detail["went_to_ref"] = strconv.FormatUint(uint64(*e.Cover), 10)
	}
}

// Missed is the error of a press that reached something else than the element.
func (p Press) Missed(s driver.Spot, a driver.Action) error {
	p.Error = "covered"
	if p.Detail == "" {
		p.Error = "moving"
	}
	return p.Refusal(s, a)
}
