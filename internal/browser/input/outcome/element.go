// Package outcome translates what the page's script reports of an action into what callers see: a driver.DoResult, and an
// error that says what to do next.
//
// It holds the answers of the script's commands as types, and is pure: no page, no clock. The texts are untrusted where they
// quote the page, and short.
package outcome

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Element is what the script reports of an element that is to be acted on.
type Element struct {
	// Error is empty, or says why the element cannot be acted on; see Element.Refusal.
	Error string `json:"error"`
	// Detail describes what obscures the element, or what received an event instead, and Cover is the ref of that, if any.
	Detail string  `json:"detail"`
	Cover  *uint32 `json:"cover"`
	// X and Y are a point of the element in the viewport of its frame.
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Left, Top, Width and Height are the border box of the element in the viewport of its frame, where it was looked for a point.
	Left   float64 `json:"l"`
	Top    float64 `json:"t"`
	Width  float64 `json:"w"`
	Height float64 `json:"h"`
	// Armed says that the guard waits for the press.
	Armed bool `json:"armed"`
	// Checked is "true", "false" or "mixed".
	Checked string `json:"checked"`
	Type    string `json:"type"`
	// Full says that the element held text, Rich that it is an editor and no field, End that the caret is to be moved
	// to the end by key.
	Full bool `json:"full"`
	Rich bool `json:"rich"`
	// Proxy reports whether the field only takes the input of an editor that draws the text elsewhere.
	Proxy bool `json:"proxy"`
	End   bool `json:"end"`
	// Done says that nothing is left to do, Same that nothing was, and Held what the element holds now.
	Done bool   `json:"done"`
	Same bool   `json:"same"`
	Held string `json:"held"`
	// Was and Now say what an element was, or was called, that is something else now.
	Was string `json:"was"`
	Now string `json:"now"`
	// Options are those that a select has, and More how many further ones.
	Options []string `json:"options"`
	More    int      `json:"more"`
}

// refusals say why an element cannot be acted on, and what to do.
var refusals = map[string]string{
	"hidden":       "it is not visible: read the page again, or scroll or open what hides it",
	"disabled":     "it is disabled: fill in what it waits for, then read the page again",
	"readonly":     "it is read-only",
	"uneditable":   "it takes no text: click it, or use select, check or upload",
	"unselectable": "it is not a select: click it, then click the option that appears",
	"uncheckable":  "it is not a checkbox, radio button, switch or other toggle: click it",
	"radio":        "a radio button is unchecked by checking another one of its group",
	"unchanged":    "it was clicked, but did not become what it should: the page did not take it; read the page again",
	"moving":       "it does not come to rest: try again, or hover it first",
	"untouchable":  "it takes no clicks (pointer-events: none): act on what is in or around it, or use press",
	"unfocused":    "it does not take the focus: click it first",
	"frame":        "the frame it is in is not visible: scroll or open what hides it",
	"stopped":      "the wait for it was stopped: try again",
	"folder":       "it takes a folder, which cannot be given: look for another way to upload",
	"one file":     "it takes one file: give one",
	"no chooser":   "it is not a file input, a click on it opened no file chooser, and files cannot be dropped on it: act on the one that is",
}

// Refusal is the error of an action at s for which the script reported an error.
func (e Element) Refusal(s driver.Spot, a driver.Action) error {
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
		message = fmt.Sprintf("it has no option %q: it has %s", e.Detail, e.options())
	case e.Error == "offoption":
		message = fmt.Sprintf("its option %q is disabled: select another", e.Detail)
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

// IsDifferent reports whether the element is another thing than the one that the caller has read.
func (e Element) IsDifferent() bool {
	switch e.Error {
	case "renamed", "reused", "unsure", driver.ContextChanged:
		return true
	}
	return false
}

// different is the error of an element that is another thing than the one that the caller has read.
func (e Element) different(ref string) error {
	message := "ref " + ref
	switch {
	case e.Error == "renamed":
		message += " was called " + quoted(e.Was) + " and is called " + quoted(e.Now) + " now"
	case e.Error == driver.ContextChanged:
		message += " stands beside something else than when it was read"
	case e.Error == "unsure":
		message += " stands in a row that changed so soon after it was read that it may show another record now"
	case e.Was == "" && e.Now == "":
		message += " stands in a row that shows another record than when it was read"
	default:
		message += " stands in a row that said " + quoted(e.Was) + " when it was read and says " + quoted(e.Now) + " now"
	}
	message += ", so nothing was done to it: read the page again, or send the step again if it is meant nevertheless"
	return &apierr.Error{Kind: apierr.Stale, Message: message,
		Detail: map[string]string{"ref": ref, "cause": e.Error, "was": e.Was, "is": e.Now}}
}

// quoted quotes a few words of the page.
func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// valueFormats say how the values of inputs are written, by the type of the input.
var valueFormats = map[string]string{
	"date": "2026-11-21", "time": "09:30", "datetime-local": "2026-11-21T09:30", "month": "2026-11", "week": "2026-W47",
	"color": "#1a2b3c", "range": "a number, such as 50", "one": "exactly one value",
}

// invalidValue is the error of a value that the element cannot hold.
func (e Element) invalidValue(ref string, a driver.Action) error {
	if a.Kind == driver.Select {
		return apierr.Errorf(apierr.Invalid, "ref %s takes exactly one value, not %d: it is not a select with multiple", ref, len(a.Values))
	}
	return apierr.Errorf(apierr.Invalid, "ref %s is an input of type %s, which cannot hold %.40q: write it as %s", ref, e.Detail, a.Text, valueFormats[e.Detail])
}

// options lists the options of a select.
func (e Element) options() string {
	if len(e.Options) == 0 {
		return "none: wait until they are loaded"
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

// Named names what an event went to instead.
func (e Element) Named() string {
	if e.Cover == nil {
		return e.Detail
	}
	return fmt.Sprintf("%s (ref %d)", e.Detail, *e.Cover)
}
