// Package truncate truncates texts. Texts of pages are unbounded, so every text that is stored or shown is truncated by this package.
//
// The package guarantees that no character is split, that a text within the limit is returned unchanged, and that a truncated text does not
// keep the whole text in memory. Limits must not be negative.
package truncate

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis is the suffix that Runes appends to a truncated text.
const Ellipsis = "…"

// Runes returns s if it has at most n characters, or else the first n characters and an ellipsis.
func Runes(s string, n int) string {
	head, cut := Head(s, n)
	if !cut {
		return s
	}
	return head + Ellipsis
}

// Head returns the first n characters of s, and whether s has more. Each invalid UTF-8 byte counts as one character.
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

// Bytes returns the longest prefix of s that has at most n bytes and splits no character.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}
