// Package truncate cuts texts to a length. Texts of pages have no bound of their own, so every text that
// is stored or shown passes through here.
//
// The package guarantees that no character is split, that a text that is short enough is returned
// unchanged, and that a cut text does not keep the memory of the whole text. Callers give lengths that
// are not negative.
package truncate

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis is what Runes puts behind a text that it cuts.
const Ellipsis = "…"

// Runes returns s, or the first n characters of s and an ellipsis.
func Runes(s string, n int) string {
	head, cut := Head(s, n)
	if !cut {
		return s
	}
	return head + Ellipsis
}

// Head returns the first n characters of s, and whether s has more. A byte that is not valid UTF-8 counts as
// one character.
func Head(s string, n int) (head string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	for i := range s {
		if n == 0 {
			return strings.Clone(s[:i]), true
		}
		n--
	}
	return s, false
}

// Bytes returns the longest beginning of s that has at most n bytes and splits no character.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}
