package check

import (
	"fmt"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// maxWords limits the length of a text in a target, in characters.
const maxWords = 1000

// maxNth limits nth, the number of an element among several matches.
const maxNth = 100_000

// checkTarget checks that the target names one element in exactly one way.
func checkTarget(v *violations, at string, t *domtapv1.Target) {
	set := targetWays(t)
	if !v.want(len(set) == 1, at,
		"must name the element in exactly one way, such as {\"ref\": 12} or {\"role\": \"button\", \"name\": \"Pay\"}") {
		return
	}
	checkRef(v, at+".ref", t.Ref)
	for _, w := range []struct{ field, words string }{
		{"role", t.GetRole()}, {"name", t.GetName()}, {"text", t.GetText()}, {"label", t.GetLabel()},
		{"placeholder", t.GetPlaceholder()}, {"test_id", t.GetTestId()}, {"selector", t.GetSelector()}, {"within", t.GetWithin()},
	} {
		checkWords(v, at+"."+w.field, w.words)
	}
	switch {
	case t.GetNth() == 0:
	case set[0] == "x" || set[0] == "ref":
		v.want(false, at+".nth", "must not be set together with ref, x or y: they name one element")
	default:
		v.want(-maxNth <= t.GetNth() && t.GetNth() <= maxNth, at+".nth", fmt.Sprintf("must be between %d and %d", -maxNth, maxNth))
	}
	if set[0] == "x" {
		v.want(t.GetWithin() == "", at+".within", "must not be set together with x and y: a point is one place")
		checkPoint(v, at, t)
	}
}

// checkWords checks a text of an element or its surroundings.
func checkWords(v *violations, at, words string) {
	v.want(utf8.RuneCountInString(words) <= maxWords, at, fmt.Sprintf("must have at most %d characters", maxWords))
	v.want(words == "" || !blank(words), at, "must not be blank")
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
func checkReadStep(v *violations, at string, s *domtapv1.ReadStep) {
	checkBudget(v, at+".max_tokens", s.GetMaxTokens(), 8000)
	switch s.GetFormat() {
	case domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE, domtapv1.Format_FORMAT_DENSE:
	default:
		v.want(false, at+".format", "must be LINES, TREE or DENSE: the answer has what changed")
	}
}
