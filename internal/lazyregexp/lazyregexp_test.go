package lazyregexp

import "testing"

func TestNewCompilesOnce(t *testing.T) {
	expression := New(`^a+$`)
	if !expression().MatchString("aa") || expression().MatchString("ab") {
		t.Error("the expression matches something else")
	}
	if first, second := expression(), expression(); first != second {
		t.Error("the expression was compiled twice")
	}
	invalid := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression was no panic at its use")
		}
	}()
	invalid()
}
