package check

import (
	"fmt"
	"strings"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	maxSelector = 1000
	maxSpan     = time.Minute
	minQuiet    = time.Millisecond
)

func checkWaitFor(v *violations, r *domtapv1.WaitForRequest) {
	checkTabID(v, r.GetTabId())
	checkCondition(v, "until", r.GetUntil())
	v.want(r.SinceRevision == nil || r.GetEpoch() != "", "epoch", "is required with since_revision")
	checkEpoch(v, r.GetEpoch())
	checkTimeout(v, "timeout", r.GetTimeout())
	checkDiffFormat(v, r.GetFormat())
	checkClientID(v, r.GetClientId())
}

// checkCondition checks the condition of a wait.
func checkCondition(v *violations, at string, w *domtapv1.WaitCondition) {
	some := w.GetElement() != nil || w.GetText() != "" || w.GetUrl() != "" ||
		w.GetNetworkIdle() != nil || w.GetQuiet() != nil || w.GetChange()
	if !v.want(some, at, `must name a condition to wait for, such as {"text": "Done"} or {"element": {"role": "button"}}`) {
		return
	}
	if w.GetElement() != nil {
		checkElementCondition(v, at+".element", w.GetElement())
	}
	checkSearchText(v, at+".text", w.GetText())
	v.want(len(w.GetUrl()) <= maxSelector, at+".url", "must have at most 1000 bytes: replace parts of the URL with *")
	checkSpan(v, at+".network_idle", w.GetNetworkIdle(), 0, "must be 0 (which means 500 ms) to 1 minute")
	checkSpan(v, at+".quiet", w.GetQuiet(), minQuiet, "must be 1 ms to 1 minute")
}

func checkElementCondition(v *violations, at string, e *domtapv1.ElementCondition) {
	some := e.GetRole() != "" || e.GetName() != "" || e.GetText() != "" || e.Ref != nil || e.GetSelector() != ""
	v.want(some, at, "must name an element by role, name, text, ref or selector")
	v.want(len(e.GetRole()) <= maxID, at+".role", "must be an ARIA role, such as button")
	checkSearchText(v, at+".name", e.GetName())
	checkSearchText(v, at+".text", e.GetText())
	checkRef(v, at+".ref", e.Ref)
	v.want(len(e.GetSelector()) <= maxSelector && !(e.GetSelector() != "" && blank(e.GetSelector())),
		at+".selector", "must be a CSS selector of at most 1000 bytes")
	checkSearchText(v, at+".within", e.GetWithin())
	_, known := domtapv1.ElementState_name[int32(e.GetState())]
	v.want(known, at+".state", "must be PRESENT, GONE, VISIBLE or ENABLED")
}

// checkSearchText checks a text to search for. It refuses white space, which would match everywhere.
func checkSearchText(v *violations, at, text string) {
	v.want(text == "" || !blank(text), at, "must not be blank")
	v.want(len(text) <= maxSelector, at, "must have at most 1000 bytes: a part of the text is enough")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// checkWaitStep checks a wait step of a turn.
func checkWaitStep(v *violations, at string, s *domtapv1.WaitStep) {
	checkTimeout(v, at+".timeout", s.GetTimeout())
	if !v.want((s.GetTarget() == nil) != (s.GetUntil() == nil), at, "must have either target or until") {
		return
	}
	if s.GetUntil() != nil {
		v.want(!s.GetGone(), at+".gone", "must be set only with target: with until, set the state of its element")
		checkCondition(v, at+".until", s.GetUntil())
		return
	}
	target := s.GetTarget()
	set := targetWays(target)
	if !v.want(len(set) == 1, at+".target", `must name the element in exactly one way, such as {"role": "button", "name": "Pay"}`) {
		return
	}
	switch set[0] {
	case "ref", "role", "text", "selector":
		checkElementCondition(v, at+".target", TargetCondition(target, s.GetGone()))
	default:
		v.unsupported(fmt.Sprintf("%s.target.%s", at, set[0]), "wait by ref, role and name, text or selector")
	}
}

// TargetCondition returns the condition that is equivalent to the target of a wait step.
func TargetCondition(t *domtapv1.Target, gone bool) *domtapv1.ElementCondition {
	e := &domtapv1.ElementCondition{Role: t.GetRole(), Name: t.GetName(), Text: t.GetText(), Ref: t.Ref, Selector: t.GetSelector(), Within: t.GetWithin()}
	if gone {
		e.State = domtapv1.ElementState_ELEMENT_STATE_GONE
	}
	return e
}
