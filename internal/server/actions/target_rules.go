package actions

import (
	"fmt"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/dom/waits"
	"github.com/domtap/domtap/internal/server/rules"
)

// maxNth limits nth, the number of an element among several matches.
const maxNth = 100_000

// checkTarget checks that the target names one element in exactly one way.
func checkTarget(v *rules.Violations, at string, t *domtapv1.Target) {
	set := targetWays(t)
	if !v.Want(len(set) == 1, at,
		"must name the element in exactly one way, such as {\"ref\": 12} or {\"role\": \"button\", \"name\": \"Pay\"}") {
		return
	}
	v.Ref(at+".ref", t.Ref)
	for _, w := range []struct{ field, words string }{
		{"role", t.GetRole()}, {"name", t.GetName()}, {"text", t.GetText()}, {"label", t.GetLabel()},
		{"placeholder", t.GetPlaceholder()}, {"test_id", t.GetTestId()}, {"selector", t.GetSelector()}, {"within", t.GetWithin()},
	} {
		v.Words(at+"."+w.field, w.words)
	}
	switch {
	case t.GetNth() == 0:
	case set[0] == "x" || set[0] == "ref":
		v.Want(false, at+".nth", "must not be set together with ref, x or y: they name one element")
	default:
		v.Want(-maxNth <= t.GetNth() && t.GetNth() <= maxNth, at+".nth", fmt.Sprintf("must be between %d and %d", -maxNth, maxNth))
	}
	if set[0] == "x" {
		v.Want(t.GetWithin() == "", at+".within", "must not be set together with x and y: a point is one place")
		checkPoint(v, at, t)
	}
}

// targetWays lists the ways in which a target names its element. role combines with name or text, x with y.
func targetWays(t *domtapv1.Target) []string {
	var set []string
	add := func(is bool, name string) {
		if is {
			set = append(set, name)
		}
	}
	add(t != nil && t.Ref != nil, "ref")
	add(t.GetRole() != "" || t.GetName() != "", "role")
	add(t.GetText() != "" && (t.GetRole() == "" || t.GetName() != ""), "text")
	add(t.GetLabel() != "", "label")
	add(t.GetPlaceholder() != "", "placeholder")
	add(t.GetTestId() != "", "test_id")
	add(t.GetSelector() != "", "selector")
	add(t != nil && (t.X != nil || t.Y != nil), "x")
	return set
}

// checkReadStep checks a step that reads the page.
func checkReadStep(v *rules.Violations, at string, s *domtapv1.ReadStep) {
	v.Budget(at+".max_tokens", s.GetMaxTokens(), 8000)
	switch s.GetFormat() {
	case domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE, domtapv1.Format_FORMAT_DENSE:
	default:
		v.Want(false, at+".format", "must be LINES, TREE or DENSE: the answer has what changed")
	}
}

// checkWaitStep checks a wait step of a turn.
func checkWaitStep(v *rules.Violations, at string, s *domtapv1.WaitStep) {
	v.Timeout(at+".timeout", s.GetTimeout())
	if !v.Want((s.GetTarget() == nil) != (s.GetUntil() == nil), at, "must have either target or until") {
		return
	}
	if s.GetUntil() != nil {
		v.Want(!s.GetGone(), at+".gone", "must be set only with target: with until, set the state of its element")
		waits.CheckCondition(v, at+".until", s.GetUntil())
		return
	}
	target := s.GetTarget()
	set := targetWays(target)
	if !v.Want(len(set) == 1, at+".target", `must name the element in exactly one way, such as {"role": "button", "name": "Pay"}`) {
		return
	}
	switch set[0] {
	case "ref", "role", "text", "selector":
		waits.CheckElementCondition(v, at+".target", waits.TargetCondition(target, s.GetGone()))
	default:
		v.Unsupported(fmt.Sprintf("%s.target.%s", at, set[0]), "wait by ref, role and name, text or selector")
	}
}
