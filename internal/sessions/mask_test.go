package sessions

import (
	"strings"
	"testing"
)

func TestMaskValidatesSelectors(t *testing.T) {
	for _, good := range []string{".iban", `[data-x="a]b"]`, "td:nth-child(2), .x:not(.y)", `.a\(b`, `input[name='it"s']`} {
		if m, err := ParseMask([]string{good, "values"}); err != nil || !m.Values || len(m.Selectors) != 1 {
			t.Errorf("%q: %+v, %v", good, m, err)
		}
	}
	for _, bad := range []string{"", " ", ":not(.a", ".a)", `[a="b]`, ".a{", "p::before", ".a/*", `.a\`, ".a\n.b", "[(])", strings.Repeat("a", MaxMaskBytes+1)} {
		if _, err := ParseMask([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := ParseMask(strings.Split(strings.Repeat("a ", MaxMasks), " ")[:MaxMasks]); err != nil {
		t.Error(err)
	}
	if _, err := ParseMask(strings.Split(strings.Repeat("a ", MaxMasks+1), " ")[:MaxMasks+1]); err == nil {
		t.Error("more were taken than may be")
	}
}

// FuzzAMaskThatIsTakenStaysWithinItself checks that no accepted selector can hide or open the text that follows it.
func FuzzAMaskThatIsTakenStaysWithinItself(f *testing.F) {
	f.Add(`.a[b="c\"d"]:is(x, y)`)
	f.Fuzz(func(t *testing.T, s string) {
		if (Mask{Selectors: []string{s}}).Check() == nil && !balanced(s+",("+s+")") {
			t.Errorf("%q", s)
		}
	})
}
