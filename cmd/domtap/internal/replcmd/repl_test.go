package replcmd

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                              nil,
		"  click 12 ":                   {"click", "12"},
		`type 3 'it''s' "a \"b\" \c"`:   {"type", "3", "its", `a "b" \c`},
		`fill 3 ""`:                     {"fill", "3", ""},
		`a\ b c # comment`:              {"a b", "c"},
		"# only a comment":              nil,
		"goto https://a.example/#there": {"goto", "https://a.example/#there"},
	} {
		if got, err := Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", line, got, err)
		}
	}
	for _, line := range []string{`"a`, "a 'b"} {
		if _, err := Split(line); err == nil {
			t.Errorf("%q is split", line)
		}
	}
}

func FuzzSplitNeverPanics(f *testing.F) {
	f.Add(`a "b\" 'c' \ #`)
	f.Fuzz(func(t *testing.T, line string) { _, _ = Split(line) })
}

func TestCommonPrefix(t *testing.T) {
	if got := commonPrefix("größe", "grün"); got != "gr" {
		t.Errorf("got %q", got)
	}
}
