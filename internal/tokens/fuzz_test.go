package tokens

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/tokens/o200k"
)

// FuzzBoundariesSplitTheCount cuts texts at every position that isBoundary allows. By the tokenizer's own count, the parts must cost the
// same as the whole.
func FuzzBoundariesSplitTheCount(f *testing.F) {
	f.Add("It's a \"test\", isn't it?\n[7] Email (input type=email)\n/x y  z\t\n 12,345 汉字。かな A1-b")
	f.Add("\u00a0x \u3000y\u2028z \u0301a \u200d'S ' \r\n\r\n/ \x85 a")
	f.Add("don'T 'll a'b ''s ǅx Ⅷ٣ ªº _é́ 1 2")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 500 {
			return
		}
		whole := o200k.Count(s)
		for i := 1; i < len(s); i++ {
			if isBoundary(s, i) && o200k.Count(s[:i])+o200k.Count(s[i:]) != whole {
				t.Fatalf("%q and %q cost %d and %d, together %d", s[:i], s[i:], o200k.Count(s[:i]), o200k.Count(s[i:]), whole)
			}
		}
	})
}

// FuzzPiecesCoverTheText checks that the pieces are neither empty nor too long.
func FuzzPiecesCoverTheText(f *testing.F) {
	f.Add("a", 5000)
	f.Add("\xff", 3000)
	f.Add("\x80\n/ ", 3000)
	f.Fuzz(func(t *testing.T, unit string, times int) {
		if unit == "" || times < 0 || times > 10_000 || len(unit)*times > 20_000 {
			return
		}
		for s := strings.Repeat(unit, times); s != ""; {
			size := piece(s)
			if size <= 0 || size > window || size > len(s) {
				t.Fatalf("a piece of %d bytes out of %d", size, len(s))
			}
			s = s[size:]
		}
	})
}
