// Package text bounds texts of a page: they are untrusted, and may be of any length.
package text

import "github.com/domtap/domtap/internal/truncate"

// Lengths that texts are cut to, in characters.
const (
	// Long bounds titles and the messages of dialogs.
	Long = 1000
	// Short bounds what a note or a summary quotes.
	Short = 80
)

// Clip cuts a text to so many characters; "…" stands for the rest.
func Clip(s string, limit int) string { return truncate.Runes(s, limit) }
