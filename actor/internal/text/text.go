// Package text has the lengths that texts of a page are cut to: they are untrusted, and may be of any length.
package text

// Lengths that texts are cut to, in characters, by truncate.Runes.
const (
	// Long bounds titles and the messages of dialogs.
	Long = 1000
	// Short bounds what a note or a summary quotes.
	Short = 80
)
