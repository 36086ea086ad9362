package plural

import "testing"

func TestOf(t *testing.T) {
	for want, got := range map[string]string{
		"0 elements": Of(0, "element"), "1 element": Of(1, "element"), "2 elements": Of(int32(2), "element"),
		"1 body": Of(int64(1), "body"), "3 bodies": Of(uint32(3), "body"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
