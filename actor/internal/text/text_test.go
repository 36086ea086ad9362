package text_test

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/internal/text"
)

func TestClipCountsCharacters(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"abc", "abc"}, {"abcd", "abc…"}, {"äöü", "äöü"}, {"äöüß", "äöü…"}, {"\xff\xff\xff\xff", "\xff\xff\xff…"},
	} {
		if got := text.Clip(tt.in, 3); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.in, got, tt.want)
		}
	}
	if long := strings.Repeat("ä", text.Long); text.Clip(long, text.Long) != long {
		t.Error("a text within the limit is cut")
	}
}
