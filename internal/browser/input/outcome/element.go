// Package outcome translates the page script's reports about an action into results for callers: a driver.DoResult, and an error that
// suggests what to do next.
//
// It defines the results of the script's commands as types. It is pure and uses neither a page nor a clock. Texts that quote the page are
// untrusted and short.
package outcome

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Element is the script's report about an element to act on.
type Element struct {
	// Error is why the element is not actionable, or empty; see Element.Refusal.
	Error string `json:"error"`
	// Detail describes what covers the element or received an event in its place. Cover is the ref of that element, if any.
	Detail string  `json:"detail"`
	Cover  *uint32 `json:"cover"`
	// X and Y are a point of the element in its frame's viewport.
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Left, Top, Width and Height are the element's border box in its frame's viewport, at the time when the point was determined.
	Left   float64 `json:"l"`
	Top    float64 `json:"t"`
	Width  float64 `json:"w"`
	Height float64 `json:"h"`
	// Armed reports that the guard waits for the press.
	Armed bool `json:"armed"`
	// Checked is "true", "false" or "mixed".
	Checked string `json:"checked"`
	Type    string `json:"type"`
	// Full reports that the element held text. Rich reports that it is an editor, not a field. End reports that the caret must be moved to
	// the end with a key.
	Full bool `json:"full"`
	Rich bool `json:"rich"`
	// Proxy reports that the field only receives the input of an editor that draws the text elsewhere.
	Proxy bool `json:"proxy"`
	End   bool `json:"end"`
	// Done reports that nothing is left to do, Same that nothing had to be done. Held is the element's current content.
	Done bool   `json:"done"`
	Same bool   `json:"same"`
	Held string `json:"held"`
	// Was and Now are the former and current names of an element that has changed.
	Was string `json:"was"`
	Now string `json:"now"`
	// Options lists the options of a select. More is the number of options not listed.
	Options []string `json:"options"`
	More    int      `json:"more"`
}

// refusals maps errors of the script to messages: why an element is not actionable, and what to do.
var refusals = map[string]string{
	"hidden":       "it is not visible: read the page again, or scroll or open what hides it",
	"disabled":     "it is disabled: fill in what it depends on, or wait until it is enabled",
	"readonly":     "it is read-only: click it if it opens a calendar or a list, or look for the control that makes it editable",
	"uneditable":   "it takes no text: click it, or use select, check or upload",
	"unselectable": "it is not a select: click it, then click the option that appears",
	"untagged":     "it shows no sign that it takes several values as tags: give one",
	"uncheckable":  "it is not a checkbox, radio button, switch or other toggle: click it",
	"radio":        "a radio button cannot be unchecked: check another button of its group",
	"unchanged":    "it was clicked, but the page did not change its state: read the page again",
	"moving":       "it keeps moving: try again, or hover it first",
	"untouchable":  "it takes no clicks (pointer-events: none): act on what is in or around it, or use press",
	"unfocused":    "it does not take the focus: click it first",
	"frame":        "the frame it is in is not visible: scroll or open what hides it",
	"stopped":      "the wait for it was stopped: try again",
	"folder":       "it accepts only a folder, which domtap cannot upload: look for another way to upload",
	"one file":     "it takes one file: give one",
	"ignored drop": "the files were dropped on it, and nothing on the page changed: name the file input or the drop zone",
	"no chooser":   "it is not a file input, a click on it opened no file chooser, and files cannot be dropped on it: name the file input",
}

// unreachable is the prefix of the Detail of an element that cannot be scrolled into view.
const unreachable = "nothing: "

// Refusal returns the error of action a at s for the script's error.
func (e Element) Refusal(s driver.Location, a driver.Action) error {
	ref := strconv.FormatUint(uint64(s.Ref), 10)
	switch e.Error {
	case "stale":
		return &apierr.Error{Kind: apierr.Stale, Message: "ref " + ref + " is gone from the page: read the page again and use a new ref", Detail: map[string]string{"ref": ref}}
	case "outside":
		return apierr.Errorf(apierr.Invalid, "the point %g,%g is outside of the viewport, which is %s: scroll first", s.Point.X, s.Point.Y, e.Detail)
	case "wrong":
		return e.invalidValue(ref, a)
	}
	if e.IsDifferent() {
		return e.different(ref)
	}
	detail := map[string]string{"ref": ref, "cause": e.Error}
	message, known := refusals[e.Error]
	switch {
	case e.Error == "nooption":
		message = fmt.Sprintf("it has no option %q; its options: %s", e.Detail, e.options())
	case e.Error == "offoption":
		message = fmt.Sprintf("its option %q is disabled: select another", e.Detail)
	case !known && strings.HasPrefix(e.Detail, unreachable):
		detail["covered_by"] = e.Detail
		message = strings.TrimPrefix(e.Detail, unreachable) + ": press a key on it, or use a larger viewport"
	case !known:
		detail["covered_by"] = e.Detail
		message = "it is covered by " + e.Detail
		if e.Cover != nil {
			detail["covered_ref"] = strconv.FormatUint(uint64(*e.Cover), 10)
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

// IsDifferent reports whether the element has changed into another one since the caller read it.
func (e Element) IsDifferent() bool {
	switch e.Error {
	case "renamed", "reused", "unsure", driver.ContextChanged:
		return true
	}
	return false
}

// different returns the error for an element that has changed into another one since the caller read it.
func (e Element) different(ref string) error {
	message := "ref " + ref
	switch {
	case e.Error == "renamed":
		message += " was called " + quoted(e.Was) + " and is called " + quoted(e.Now) + " now"
	case e.Error == driver.ContextChanged:
		message += " has other neighbors than when it was read"
	case e.Error == "unsure":
		message += " is in a row that changed right after it was read and may now show another record"
	case e.Was == "" && e.Now == "":
		message += " is in a row that showed another record when it was read"
	default:
		message += " is in a row that showed " + quoted(e.Was) + " when it was read and now shows " + quoted(e.Now)
	}
	message += ", so nothing was done to it: read the page again, or repeat the step to act on it anyway"
	return &apierr.Error{Kind: apierr.Stale, Message: message,
		Detail: map[string]string{"ref": ref, "cause": e.Error, "was": e.Was, "is": e.Now}}
}

// quoted quotes a short text from the page.
func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// valueFormats maps input types to examples of their value format.
var valueFormats = map[string]string{
	"date": "2026-11-21", "time": "09:30", "datetime-local": "2026-11-21T09:30", "month": "2026-11", "week": "2026-W47",
	"color": "#1a2b3c", "range": "a number, such as 50", "one": "exactly one value",
}

// invalidValue returns the error for a value that the element cannot hold.
func (e Element) invalidValue(ref string, a driver.Action) error {
	if a.Kind == driver.Select {
		return apierr.Errorf(apierr.Invalid, "ref %s takes exactly one value, not %d, because it is not a multiple select: give one value", ref, len(a.Values))
	}
	return apierr.Errorf(apierr.Invalid, "ref %s is an input of type %s, which cannot hold %.40q: write it as %s", ref, e.Detail, a.Text, valueFormats[e.Detail])
}

// options formats the options of a select.
func (e Element) options() string {
	if len(e.Options) == 0 {
		return "none: wait until they load"
	}
	quoted := make([]string, len(e.Options))
	for i, o := range e.Options {
		quoted[i] = strconv.Quote(o)
	}
	text := strings.Join(quoted, ", ")
	if e.More > 0 {
		text += fmt.Sprintf(" and %d more", e.More)
	}
	return text
}

// Named names the element that received an event instead.
func (e Element) Named() string {
	if e.Cover == nil {
		return e.Detail
	}
	return fmt.Sprintf("%s (ref %d)", e.Detail, *e.Cover)
}
