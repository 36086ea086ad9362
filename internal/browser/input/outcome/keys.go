package outcome

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Keys reports what an element received of an action's keys.
type Keys struct {
	Element
	// Reached reports that the element received the first key.
	Reached bool `json:"reached"`
	// Same reports that the element holds the text. Held is its actual content otherwise. Reported is false if the content is a secret.
	Same     bool   `json:"same"`
	Reported bool   `json:"reported"`
	Held     string `json:"held"`
	// Delivered is "all", "part" or "none". Kept of Of characters arrived.
	Delivered string `json:"delivered"`
	Kept      int    `json:"kept"`
	Of        int    `json:"of"`
	// Cause is empty, or a key of undeliveredCauses or deliveredNotes. Limit is the maxlength.
	Cause string `json:"cause"`
	Limit int    `json:"limit"`
	// Unseen is a key of unseenChanges, or empty.
	Unseen string `json:"unseen"`
}

// unseenChanges maps changes of a field that its reported text does not show to their descriptions.
var unseenChanges = map[string]string{"text": "its text changed", "format": "the format of its text changed"}

// undeliveredCauses maps causes to messages: why a text did not fully arrive, and what to do.
var undeliveredCauses = map[string]string{
	"gone":      "the page removed it: read the page again and use a new ref",
	"disabled":  "the page disabled it: read the page, or wait until it is enabled",
	"readonly":  "the page made it read-only: read the page again",
	"prevented": "the page prevented the keys: %s, or read the page for the format it expects",
	"number":    "it takes numbers only: type a number",
	"reset":     "the page reset it: %s, or read the page for the format it expects",
}

// deliveredNotes maps causes to notes for a text that arrived but differs from the element's content.
var deliveredNotes = map[string]string{
	"gone":    "ok, then the element left the page",
	"emptied": "ok, then the page emptied it",
	"catcher": "ok, the keys arrived; it shows no text itself: read the page to see their effect",
}

// Reindented reports whether an editor holds the text with other white space, because it indents new lines.
func (k Keys) Reindented() bool { return k.Cause == "spaces" }

// Keyed reports whether the page handles each key itself, so that text must be entered key by key.
func (k Keys) Keyed() bool { return k.Cause == "keyed" }

// Result returns the result of an action's keys.
func (k Keys) Result(a driver.Action) (driver.DoResult, error) {
	result, err := k.received(a)
	if result.Altered = k.Unseen != ""; err == nil && a.Kind == driver.Press && k.Unseen != "" {
		result.Detail = cmp.Or(result.Detail, "ok") + ", and " + unseenChanges[k.Unseen]
	}
	return result, err
}

// received returns the result of an action's keys without the changes that the field's text does not show.
func (k Keys) received(a driver.Action) (driver.DoResult, error) {
	switch {
	case k.IsDifferent():
		return driver.DoResult{}, k.Refusal(a.Location, a)
	case !k.Reached:
		return driver.DoResult{}, k.notReached(a)
	case a.Kind == driver.Press:
		return k.pressed(a)
	case k.Delivered != "all":
		return k.undelivered(a)
	case a.Kind == driver.Fill && k.Cause == "" && k.Detail != "":
		return driver.DoResult{Detail: "ok, until the focus went to " + k.Named()}, nil
	}
	return driver.DoResult{Detail: k.note()}, nil
}

// note returns remarks about a text that arrived.
func (k Keys) note() string {
	switch {
	case k.Cause == "handed on":
		return "ok, the rest of it in " + k.Named() + ", where the page moved the focus"
	case deliveredNotes[k.Cause] != "":
		return deliveredNotes[k.Cause]
	case k.Same:
		return ""
	case k.Cause == "spaces" && k.Held != "":
		return fmt.Sprintf("ok, but with other white space: it holds %q", k.Held)
	case k.Cause == "spaces":
		return "ok, but with other white space"
	case k.Held != "":
		return driver.Holds + strconv.Quote(k.Held)
	}
	return "ok, but it holds something else"
}

// pressed returns the result of a key press that the element received.
func (k Keys) pressed(a driver.Action) (driver.DoResult, error) {
	switch {
	case k.Cause == "handed on":
		return driver.DoResult{Detail: "ok, the focus is on " + k.Named() + " now"}, nil
	case k.Cause == "elsewhere" || k.Cause == "moved":
		return k.undelivered(a)
	case k.Detail != "":
		return driver.DoResult{Detail: "ok, until the focus went to " + k.Named()}, nil
	case k.Cause == "prevented":
		return driver.DoResult{Detail: "ok, the page handled the key itself"}, nil
	case k.Cause == "maxlength":
		return driver.DoResult{Detail: fmt.Sprintf("ok, but nothing was entered: its maxlength is %d", k.Limit)}, nil
	case k.Delivered != "all":
		return driver.DoResult{Detail: "ok, but it does not hold the character"}, nil
	}
	return driver.DoResult{}, nil
}

// OfGoneDocument returns the result of keys whose document was replaced before it could report. If the keys ended with Enter, they count as
// delivered: Enter may navigate, and the document existed when Enter was pressed.
func OfGoneDocument(a driver.Action) (driver.DoResult, error) {
	if a.Kind == driver.Type && !strings.HasSuffix(a.Text, "\n") {
		return NavigatedTooSoon(a)
	}
	return driver.DoResult{}, nil
}

// NavigatedTooSoon returns the result of keys that caused a navigation before all of them were sent.
func NavigatedTooSoon(a driver.Action) (driver.DoResult, error) {
	subject := "ref " + fmt.Sprint(a.Ref)
	if a.Ref == dom.NoRef {
		subject = "the focused element"
	}
	return driver.DoResult{Delivered: driver.DeliveredPart}, &apierr.Error{
		Kind: apierr.NotDelivered, Detail: map[string]string{"ref": fmt.Sprint(a.Ref), "cause": "navigated"},
		Message: subject + " may not have received all keys, because its document is gone: read the page",
	}
}

// undelivered returns the result of a text that did not fully arrive.
func (k Keys) undelivered(a driver.Action) (driver.DoResult, error) {
	detail := map[string]string{"ref": fmt.Sprint(a.Ref), "cause": k.Cause, "arrived": strconv.Itoa(k.Kept), "of": strconv.Itoa(k.Of)}
	why, known := undeliveredCauses[k.Cause]
	other := "use fill"
	if a.Kind == driver.Fill {
		other = "type it key by key"
	}
	why = strings.ReplaceAll(why, "%s", other)
	switch {
	case k.Cause == "maxlength":
		why = fmt.Sprintf("its maxlength is %d: type a shorter text", k.Limit)
	case k.Cause == "elsewhere":
		why = "text went into " + k.Named() + " instead: read the page, and use a ref from there"
	case k.Cause == "moved":
		why = "the page moved the focus to " + k.Named() + ", which received nothing: read the page, and use a ref from there"
	case !known:
		why = "the page did not accept it: read the page for the format it expects"
	}
	k.addReceiver(detail)
	some := "none"
	result := driver.DoResult{Delivered: driver.DeliveredNone}
	if k.Kept > 0 {
		some, result.Delivered = strconv.Itoa(k.Kept), driver.DeliveredPart
	}
	holds := ""
	if k.Reported {
		holds = fmt.Sprintf(" (the field holds %q)", k.Held)
	}
	message := fmt.Sprintf("ref %d received %s of %d characters%s: %s", a.Ref, some, k.Of, holds, why)
	return result, &apierr.Error{Kind: apierr.NotDelivered, Message: message, Detail: detail}
}

// notReached returns the error of keys that the element did not receive.
func (k Keys) notReached(a driver.Action) error {
	where := "something else"
	if k.Detail != "" {
		where = k.Named()
	}
	return &apierr.Error{Kind: apierr.NotActionable, Detail: map[string]string{"ref": fmt.Sprint(a.Ref), "cause": "unfocused"},
		Message: fmt.Sprintf("ref %d lost the focus to %s before a key reached it, so nothing was typed: click it first, or close what takes the focus", a.Ref, where)}
}
