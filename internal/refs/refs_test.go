package refs

import "testing"

func TestEveryNotationIsTheSameRef(t *testing.T) {
	for _, text := range []string{"[12]", "12", "e12", "@12", "[ref=e12]", "ref=e12", "ref=12", "@e12", "[e12]", "[@12]", " 12 "} {
		if ref, ok := Parse(text); !ok || ref != 12 {
			t.Errorf("%q was read as %d, %v", text, ref, ok)
		}
	}
	if ref, ok := Parse("4294967295"); !ok || ref != 4294967295 {
		t.Errorf("the largest ref was read as %d, %v", ref, ok)
	}
}

func TestOtherTextIsNoRef(t *testing.T) {
	for _, text := range []string{"", "[]", "e", "@", "[12", "12]", "-1", "+1", "1.5", "1e3", "Pay", "[ref=]", "ee12", "e12e", "4294967296", "1 2", "1_2", "0x1", "#12"} {
		if ref, ok := Parse(text); ok {
			t.Errorf("%q was read as the ref %d", text, ref)
		}
	}
}
