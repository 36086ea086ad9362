package components

import (
	"fmt"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// judgement compares the answer of domtap about a step with the observations of the witness.
type judgement struct {
	attempt
	result  *domtapv1.StepResult
	answer  string
	verdict domtapv1.Verdict
	// was and is hold the state of the element before and after the step.
	was, is state
	before  string
	seen    testimony
	// fresh means that the page was read immediately before the step. duplicates counts the controls of that read with the target's role and
	// name.
	fresh      bool
	duplicates int
}

// wrong describes what is wrong in the answer, or returns an empty string.
func (j *judgement) wrong() string {
	for _, check := range []func() string{j.agrees, j.elsewhere, j.delivered, j.refused, j.failed, j.outcome, j.silent} {
		if wrong := check(); wrong != "" {
			return wrong
		}
	}
	return ""
}

// agrees compares the two words of the result.
func (j *judgement) agrees() string {
	if j.result.GetOk() != (j.result.GetDelivered() == domtapv1.Delivered_DELIVERED_ALL) {
		return "ok and delivered contradict each other"
	}
	return ""
}

var (
	presses  = []string{"pointerdown", "mousedown"}
	received = []string{"pointerdown", "mousedown", "click", "keydown", "input", "change", "drop"}
)

// certain reports whether the target is known. It is unknown if the step has none or names several, or if the element was replaced.
func (j *judgement) certain() bool {
	switch {
	case j.on.id == 0 || j.result.HealedRef != nil || j.by == "text":
		return false
	case j.by == "name":
		return j.fresh && j.duplicates == 1
	}
	return true
}

// pointed reports whether the step is a mouse action on one element, so that no other element may be pressed.
func (j *judgement) pointed() bool {
	return slices.Contains([]string{"click", "double", "right", "hover", "scroll"}, j.kind)
}

// means reports whether an event on these elements is on the target, inside it, or on a stand-in for it.
func (j *judgement) means(path []int) bool {
	meant := append([]int{j.on.id}, j.was.StandIns...)
	return slices.ContainsFunc(meant, func(id int) bool { return slices.Contains(path, id) })
}

// elsewhere checks for presses on other elements.
func (j *judgement) elsewhere() string {
	if !j.certain() || !j.pointed() && j.by != "within" {
		return ""
	}
	for _, e := range j.seen.Log {
		if !e.Trusted || !slices.Contains(presses, e.Type) {
			continue
		}
		if j.kind == "hover" || j.kind == "scroll" {
			return "pressed by a " + j.kind
		}
		// The page may also set fields and custom selects through other elements, such as options.
		if !j.means(e.Path) && (j.pointed() || slices.Contains([]string{"check", "uncheck"}, j.kind)) {
			return fmt.Sprintf("%s on another element, %v", e.Type, e.Path[:min(5, len(e.Path))])
		}
	}
	return ""
}

// delivered checks for the events of a complete action.
func (j *judgement) delivered() string {
	if !j.result.GetOk() || !j.certain() {
		return ""
	}
	got := func(types ...string) bool {
		return slices.ContainsFunc(j.seen.Log, func(e event) bool { return e.Trusted && slices.Contains(types, e.Type) && j.means(e.Path) })
	}
	var whole bool
	switch j.kind {
	case "click", "double", "right":
		whole = got("click", "contextmenu") || got(presses...) // a popup may open under the pointer
	case "hover":
		whole = got("pointermove", "mousemove", "pointerover", "mouseover") || j.is.Hovered
	case "press":
		whole = got("keydown") || strings.Contains(j.answer, "receive")
	case "drag":
		whole = j.dragged()
	default:
		return ""
	}
	if !whole {
		return "ok, and the page did not receive it"
	}
	return ""
}

// dragged reports whether the source was pressed and released at the end of the drag.
func (j *judgement) dragged() bool {
	pressed := func(e event) bool {
		return e.Trusted && slices.Contains([]string{"pointerdown", "mousedown", "dragstart"}, e.Type) && j.means(e.Path)
	}
	if !slices.ContainsFunc(j.seen.Log, pressed) {
		return false
	}
	if j.to.id == 0 || strings.Contains(j.answer, "did not move") || strings.Contains(j.answer, "moved during the drag") {
		return true // the answer reports that the drag did not end there
	}
	// A sortable list moves the source under the pointer.
	isReordered := j.is.Around != j.was.Around
	return slices.ContainsFunc(j.seen.Log, func(e event) bool {
		if !slices.Contains([]string{"pointerup", "mouseup", "drop", "dragend"}, e.Type) {
			return false
		}
		return slices.Contains(e.Over, j.to.id) || slices.Contains(e.Path, j.to.id) || isReordered && j.means(e.Path)
	})
}

// refused checks for refusals of words that identify one row, although the row has only one such control.
func (j *judgement) refused() string {
	if reason := j.result.GetReason(); j.by == "within" && (reason == "AMBIGUOUS_TARGET" || reason == "TARGET_NOT_FOUND") {
		return "refused, though one row has the words and one such control"
	}
	return ""
}

// failed checks for actions that took effect although the answer reports a failure.
func (j *judgement) failed() string {
	if j.result.GetOk() || j.on.id == 0 || !j.is.There || j.result.GetReason() == "PAGE_UNRESPONSIVE" {
		return ""
	}
	// The page may reject keys that it received, and a select without the option is opened and closed.
	kept := slices.Contains([]string{"press", "type", "fill", "select"}, j.kind)
	if j.result.GetDelivered() == domtapv1.Delivered_DELIVERED_NONE && !kept {
		for _, e := range j.seen.Log {
			if e.Trusted && slices.Contains(received, e.Type) && slices.Contains(e.Path, j.on.id) {
				return "said to be not done, and the element received " + e.Type
			}
		}
	}
	switch {
	case (j.kind == "fill" || j.kind == "select" && j.is.Tag == "select") && slices.Contains(j.is.Holds, j.text) && !slices.Contains(j.was.Holds, j.text):
		return "said to have failed, and the element holds the text"
	case j.kind == "check" && j.is.Checked == "true" && j.was.Checked == "false", j.kind == "uncheck" && j.is.Checked == "false" && j.was.Checked == "true":
		return "said to have failed, and the element is as was asked"
	case j.kind == "click" && len(j.seen.received(j.on.id, presses...)) > 0 && len(j.seen.received(j.on.id, "click")) > 0:
		return "said to have failed, and the element was clicked"
	}
	return ""
}

// outcome checks the statements of an ok about the element's state.
func (j *judgement) outcome() string {
	if !j.result.GetOk() || !j.certain() || !j.is.There {
		return ""
	}
	switch j.kind {
	case "fill", "select", "type":
		if !j.holds() {
			return "ok, and the element does not hold the text"
		}
	case "check":
		if j.is.Checked == "false" {
			return "ok, and the element is not checked"
		}
	case "uncheck":
		if j.is.Checked == "true" {
			return "ok, and the element is checked"
		}
	}
	return ""
}

// holds reports whether the element contains the text, or the other text that the answer reports.
func (j *judgement) holds() bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	for _, held := range j.is.Holds {
		switch {
		case fold(held) == fold(j.text), held != "" && strings.Contains(j.answer, held), j.kind == "type" && strings.Contains(held, j.text):
			return true
		}
	}
	return strings.Contains(fold(j.is.Around), fold(j.text)) || strings.Contains(j.answer, "holds")
}

// silent checks for visible changes although the answer reports that nothing changed. The second click of a double click may revert the
// changes of the first.
func (j *judgement) silent() string {
	if j.kind == "double" && j.seen.Text == j.before {
		return ""
	}
	if j.verdict == domtapv1.Verdict_VERDICT_NO_CHANGE && j.seen.Early != nil && *j.seen.Early != j.before && !strings.Contains(j.answer, "! ") {
		return fmt.Sprintf("said to change nothing, and what can be read changed: %s", difference(j.before, *j.seen.Early))
	}
	return ""
}

// difference shows where two texts start to differ.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	i = max(0, i-20)
	return fmt.Sprintf("%q became %q", a[i:min(len(a), i+80)], b[i:min(len(b), i+80)])
}
