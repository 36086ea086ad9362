package input

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// outcome is what became of a press: the answer of the commands "struck", "witness" and "dragBegan".
type outcome struct {
	resolved
	// Reached says that the element received the first event, and Presses and Clicks how many of each it received.
	Reached bool `json:"reached"`
	Presses int  `json:"presses"`
	Clicks  int  `json:"clicks"`
	// Whole says that this is all that it was to receive; also when the page took the element away while it handled the
	// press, so that no click could follow. Via says that what had captured the pointer took the click.
	Whole bool `json:"whole"`
	Via   bool `json:"via"`
	// Fate is empty, or why no click can reach the element any more: it is removed, hidden or disabled.
	Fate string `json:"fate"`
	// Left says that the page set out for another document after the press.
	Left     bool `json:"left"`
	Dragging bool `json:"dragging"`
	// Beside says that a drag was released where its target was not any more.
	Beside bool `json:"beside"`
	// Lost says that the document was gone before anybody knew.
	Lost bool `json:"-"`
}

// fates say what a page did with an element that was pressed.
var fates = map[string]string{"removed": "removed it", "hidden": "hid it", "disabled": "disabled it"}

// note says what is worth knowing of a press that was delivered.
func (b *outcome) note() string {
	switch {
	case b.Clicks > 0 && b.Was != b.Now:
		return fmt.Sprintf("ok, but it was called %s when it was pressed and %s when it was clicked", quoted(b.Was), quoted(b.Now))
	case b.Via:
		return "ok, by what had captured the pointer around it"
	case b.Fate != "" && b.Presses > b.Clicks:
		return "ok, pressed: the page " + fates[b.Fate] + " while it handled that, so there was no click"
	case b.Left && b.Presses > b.Clicks:
		return "ok, pressed: the page went on to another document before the click"
	}
	return ""
}

// partialResult is how a press went of which the element received a part.
func (t *pointer) partialResult(p *path, got outcome) (driver.DoResult, error) {
	ref := strconv.FormatUint(uint64(p.spot.Ref), 10)
	detail := map[string]string{"ref": ref, "cause": "replaced", "presses": strconv.Itoa(got.Presses), "clicks": strconv.Itoa(got.Clicks)}
	result := driver.DoResult{Delivered: driver.DeliveredPart}
	what := "ref " + ref + " was pressed, but not clicked"
	switch {
	case got.Presses == 0:
		what = "ref " + ref + " received the pointer, but not the press"
	case t.clicks() > 1:
		what = fmt.Sprintf("ref %s was clicked %d of %d times", ref, got.Clicks, t.clicks())
	}
	why := "no click came"
	switch {
	case got.Lost:
		result.Delivered, detail["cause"] = driver.DeliveredNone, "navigated"
		what, why = "it is not known whether ref "+ref+" was clicked", "its document was gone before it could be asked"
	case got.Fate != "":
		why, detail["cause"] = "the page "+fates[got.Fate]+" meanwhile", got.Fate
		if got.Cover != nil {
			why += ", and then " + named(got.resolved) + " was in its place"
		}
	case got.Detail != "":
		why = "then " + named(got.resolved) + " was in its place"
	}
	if got.Detail != "" {
		detail["went_to"] = got.Detail
	}
	if got.Cover != nil {
		detail["went_to_ref"] = strconv.FormatUint(uint64(*got.Cover), 10)
	}
	message := what + ": " + why + ": read the page to see whether it did anything before you try again"
	return result, &apierr.Error{Kind: apierr.NotDelivered, Message: message, Detail: detail}
}

// missedError is the error of a press that reached something else than the element.
func (t *pointer) missedError(p *path, got outcome) error {
	got.Error = "covered"
	if got.Detail == "" {
		got.Error = "moving"
	}
	return t.refusal(p.spot, got.resolved)
}

// dispatch presses and releases the mouse, and says how that went.
func (t *pointer) dispatch(ctx context.Context, p *path, modifiers int64) (outcome, error) {
	defer t.disarmPath(ctx, p)
	button := input.MouseButton(t.action.Button)
	if button == "" {
		button = input.MouseButtonLeft
	}
	var steps []devtools.Step
	for n := int64(1); n <= int64(t.clicks()); n++ {
		e := input.DispatchMouseEventParams{Button: button, ClickCount: n, Modifiers: modifiers}
		steps = append(steps, mouse(input.DispatchMouseEventTypeMousePressed, p.at, e), mouse(input.DispatchMouseEventTypeMouseReleased, p.at, e))
	}
	if p.spot.Ref == dom.NoRef {
		return outcome{}, t.page.Main().Run(ctx, steps...)
	}
	var got outcome
	err := t.page.Main().Run(ctx, steps...)
	if err != nil {
		disarm(ctx, p.agents()[:1])
	} else if got, err = t.outcomeOf(ctx, p); err != nil && ctx.Err() == nil {
		return testimony(ctx, p.witness) // the document is gone
	}
	return p.orTestimony(ctx, got, err)
}

// orTestimony gives back how a press went. When the time was up before the page answered, which may hang, what it told before counts.
func (p *path) orTestimony(ctx context.Context, got outcome, err error) (outcome, error) {
	if err == nil || ctx.Err() == nil || !p.witness.Arrived() {
		return got, err
	}
	if told, terr := testimony(context.WithoutCancel(ctx), p.witness); terr == nil && told.Whole {
		return told, nil
	}
	return got, err
}

// outcomeOf asks how a press went, and lets go of the element.
func (t *pointer) outcomeOf(ctx context.Context, p *path) (got outcome, err error) {
	if p.spot.Ref == dom.NoRef {
		return outcome{Reached: true}, nil
	}
	if err = call(ctx, p.leaf(), "struck", nil, &got); err != nil && ctx.Err() != nil {
		disarm(ctx, p.agents()[:1])
	}
	return got, err
}

// testimonyLimit bounds the wait for what a document has said that is gone.
const testimonyLimit = 500 * time.Millisecond

// testimony is how a press went in a document that is gone now, as far as it could tell.
func testimony(ctx context.Context, witness *devtools.Call) (outcome, error) {
	bounded, cancel := context.WithTimeout(ctx, testimonyLimit)
	defer cancel()
	var got outcome
	if err := answer(bounded, witness, &got); err != nil {
		return outcome{Lost: true}, ctx.Err()
	}
	got.Whole = got.Whole || got.Left && got.Presses > 0
	return got, nil
}
