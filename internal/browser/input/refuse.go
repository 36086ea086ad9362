package input

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// refusals say why an element cannot be acted on, and what to do.
var refusals = map[string]string{
	"hidden":       "it is not visible: read the page again, or scroll or open what hides it",
	"disabled":     "it is disabled: fill in what it waits for, then read the page again",
	"readonly":     "it is read-only",
	"uneditable":   "it takes no text: click it, or use select, check or upload",
	"unselectable": "it is no select: click it, then click the option that appears",
	"uncheckable":  "it is no checkbox, radio button or switch: click it",
	"radio":        "a radio button is unchecked by checking another one of its group",
	"unchanged":    "it was clicked, but did not become what it should: the page did not take it; read the page again",
	"moving":       "it does not come to rest: try again, or hover it first",
	"untouchable":  "it takes no clicks (pointer-events: none): act on what is in or around it, or use press",
	"unfocused":    "it does not take the focus: click it first",
	"frame":        "the frame it is in is not visible: scroll or open what hides it",
	"stopped":      "the wait for it was stopped: try again",
	"folder":       "it takes a folder, which cannot be given: look for another way to upload",
	"one file":     "it takes one file: give one",
	"no chooser":   "it is no file input, and a click on it opened no file chooser: act on the one that is",
}

// refusal is the error for what the observer found.
func (t *task) refusal(s driver.Spot, found resolved) error {
	ref := strconv.FormatUint(uint64(s.Ref), 10)
	switch found.Error {
	case "stale":
		return &apierr.Error{Kind: apierr.Stale, Message: "ref " + ref + " is gone from the page: read the page again and use a new ref", Detail: map[string]string{"ref": ref}}
	case "outside":
		return apierr.Errorf(apierr.Invalid, "the point %g,%g is outside of the viewport, which is %s: scroll first", s.Point.X, s.Point.Y, found.Detail)
	case "wrong":
		return wrong(ref, t.action, found)
	case "renamed", "reused", driver.Beside:
		return other(ref, found)
	}
	detail := map[string]string{"ref": ref, "cause": found.Error}
	message, known := refusals[found.Error]
	switch {
	case found.Error == "nooption":
		message = fmt.Sprintf("it has no option %q: it has %s", found.Detail, listed(found))
	case found.Error == "offoption":
		message = fmt.Sprintf("its option %q is disabled: select another", found.Detail)
	case !known:
		detail["covered_by"] = found.Detail
		message = "it is covered by " + found.Detail
		if found.Cover != nil {
			detail["covered_ref"] = strconv.FormatUint(uint64(*found.Cover), 10)
			message += " (ref " + detail["covered_ref"] + ")"
		}
		message += ": close or move that first"
	}
	subject := "ref " + ref
	if s.Ref == dom.NoRef {
		subject = "the point"
	}
	return &apierr.Error{Kind: apierr.NotActionable, Message: subject + " cannot be used: " + message, Detail: detail}
}

// isOther reports whether the observer found that an element is another thing than the one that is meant.
func isOther(found resolved) bool {
	return found.Error == "renamed" || found.Error == "reused" || found.Error == driver.Beside
}

// other is the error of an element that is another thing than the one that is meant.
func other(ref string, found resolved) error {
	message := "ref " + ref
	switch {
	case found.Error == "renamed":
		message += " was called " + quoted(found.Was) + " and is called " + quoted(found.Now) + " now"
	case found.Error == driver.Beside:
		message += " stands beside something else than when it was read"
	case found.Was == "" && found.Now == "":
		message += " stands in a row that shows another record than when it was read"
	default:
		message += " stands in a row that said " + quoted(found.Was) + " when it was read and says " + quoted(found.Now) + " now"
	}
	message += ", so nothing was done to it: read the page again, or send the step again if it is meant nevertheless"
	return &apierr.Error{Kind: apierr.Stale, Message: message,
		Detail: map[string]string{"ref": ref, "cause": found.Error, "was": found.Was, "is": found.Now}}
}

// quoted quotes a few words of the page.
func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// forms say how the values of inputs are written.
var forms = map[string]string{
	"date": "2026-11-21", "time": "09:30", "datetime-local": "2026-11-21T09:30", "month": "2026-11", "week": "2026-W47",
	"color": "#1a2b3c", "range": "a number, such as 50", "one": "exactly one value",
}

// wrong is the error of a value that the element cannot hold.
func wrong(ref string, a driver.Action, found resolved) error {
	if a.Kind == driver.Select {
		return apierr.Errorf(apierr.Invalid, "ref %s takes exactly one value, not %d: it is no select of several", ref, len(a.Values))
	}
	return apierr.Errorf(apierr.Invalid, "ref %s is an input of type %s, which cannot hold %.40q: write it as %s", ref, found.Detail, a.Text, forms[found.Detail])
}

// listed lists the options of a select.
func listed(found resolved) string {
	if len(found.Options) == 0 {
		return "none: wait until they are loaded"
	}
	quoted := make([]string, len(found.Options))
	for i, o := range found.Options {
		quoted[i] = strconv.Quote(o)
	}
	text := strings.Join(quoted, ", ")
	if found.More > 0 {
		text += fmt.Sprintf(" and %d more", found.More)
	}
	return text
}

// named names what an event went to instead.
func named(found resolved) string {
	if found.Cover == nil {
		return found.Detail
	}
	return fmt.Sprintf("%s (ref %d)", found.Detail, *found.Cover)
}
