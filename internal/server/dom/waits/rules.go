package waits

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	maxSelector = 1000
	maxSpan     = time.Minute
	minQuiet    = time.Millisecond
)

// CheckCondition checks the condition of a wait.
func CheckCondition(v *rules.Violations, at string, w *domtapv1.WaitCondition) {
	some := w.GetElement() != nil || w.GetText() != "" || w.GetUrl() != "" ||
		w.GetNetworkIdle() != nil || w.GetQuiet() != nil || w.GetChange()
	if !v.Want(some, at, `must name a condition to wait for, such as {"text": "Done"} or {"element": {"role": "button"}}`) {
		return
	}
	if w.GetElement() != nil {
		CheckElementCondition(v, at+".element", w.GetElement())
	}
	v.SearchText(at+".text", w.GetText())
	v.Want(len(w.GetUrl()) <= maxSelector, at+".url", "must have at most 1000 bytes: replace parts of the URL with *")
	checkSpan(v, at+".network_idle", w.GetNetworkIdle(), 0, "must be 0 (which means 500 ms) to 1 minute")
	checkSpan(v, at+".quiet", w.GetQuiet(), minQuiet, "must be 1 ms to 1 minute")
}

// CheckElementCondition checks the element of a condition.
func CheckElementCondition(v *rules.Violations, at string, e *domtapv1.ElementCondition) {
	some := e.GetRole() != "" || e.GetName() != "" || e.GetText() != "" || e.Ref != nil || e.GetSelector() != ""
	v.Want(some, at, "must name an element by role, name, text, ref or selector")
	v.Want(len(e.GetRole()) <= rules.MaxID, at+".role", "must be an ARIA role, such as button")
	v.SearchText(at+".name", e.GetName())
	v.SearchText(at+".text", e.GetText())
	v.Ref(at+".ref", e.Ref)
	v.Want(len(e.GetSelector()) <= maxSelector && !(e.GetSelector() != "" && rules.Blank(e.GetSelector())),
		at+".selector", "must be a CSS selector of at most 1000 bytes")
	v.SearchText(at+".within", e.GetWithin())
	rules.Known(v, at+".state", e.GetState(), "must be PRESENT, GONE, VISIBLE or ENABLED")
}

// TargetCondition returns the condition that is equivalent to the target of a wait step.
func TargetCondition(t *domtapv1.Target, gone bool) *domtapv1.ElementCondition {
	e := &domtapv1.ElementCondition{Role: t.GetRole(), Name: t.GetName(), Text: t.GetText(), Ref: t.Ref, Selector: t.GetSelector(), Within: t.GetWithin()}
	if gone {
		e.State = domtapv1.ElementState_ELEMENT_STATE_GONE
	}
	return e
}

// checkSpan checks an optional time without events.
func checkSpan(v *rules.Violations, field string, d *durationpb.Duration, least time.Duration, description string) {
	v.Want(d == nil || rules.Within(d, least, maxSpan), field, description)
}
