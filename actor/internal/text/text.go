// Package text bounds texts of a page: they are untrusted, and may be of any length.
package text

import (
	"strings"
	"unicode/utf8"
)

// Lengths that texts are cut to, in characters.
const (
	// Long bounds titles and the messages of dialogs.
	Long = 1000
	// Short bounds what a note or a summary quotes.
	Short = 80
)

// Clip cuts a text to so many characters; "…" stands for the rest. A text that is cut keeps no longer one in memory.
func Clip(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return strings.Clone(s[:i]) + "…"
		}
		n++
	}
	return s
}
