package truncate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domtap/domtap/internal/truncate"
)

func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		s            string
		n            int
		runes, bytes string
	}{
		{"", 0, "", ""},
		{"Shop", 0, "…", ""},
		{"Shop", 3, "Sho…", "Sho"},
		{"Shop", 4, "Shop", "Shop"},
		{"Überweisung", 1, "Ü…", ""},
		{"Überweisung", 2, "Üb…", "Ü"},
		{"日本", 2, "日本", ""},
		{"日本語", 2, "日本…", ""},
		{"日本語", 3, "日本語", "日"},
		{"a\xffb\xff", 3, "a\xffb…", "a\xffb"},
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc…", "abc"},
		{"äöü", 3, "äöü", "ä"},
		{"äöüß", 3, "äöü…", "ä"},
		{"\xff\xff\xff\xff", 3, "\xff\xff\xff…", "\xff\xff\xff"},
		{strings.Repeat("ä", 1000), 1000, strings.Repeat("ä", 1000), strings.Repeat("ä", 500)},
	} {
		if got := truncate.Runes(test.s, test.n); got != test.runes {
			t.Errorf("Runes(%q, %d) is %q, want %q", test.s, test.n, got, test.runes)
		}
		if got := truncate.Bytes(test.s, test.n); got != test.bytes {
			t.Errorf("Bytes(%q, %d) is %q, want %q", test.s, test.n, got, test.bytes)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("日本\xff語", uint8(2))
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		head, cut := truncate.Head(s, int(n))
		if !strings.HasPrefix(s, head) || cut != (utf8.RuneCountInString(s) > int(n)) || cut && utf8.RuneCountInString(head) != int(n) {
			t.Errorf("Head(%q, %d) is %q, %v", s, n, head, cut)
		}
		short := truncate.Bytes(s, int(n))
		if !strings.HasPrefix(s, short) || len(short) > int(n) || utf8.ValidString(s) && !utf8.ValidString(short) {
			t.Errorf("Bytes(%q, %d) is %q", s, n, short)
		}
	})
}
