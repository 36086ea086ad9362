// Package text defines the lengths that texts from pages are truncated to, because they are untrusted and may have any length.
package text

// Lengths for truncate.Runes, in characters.
const (
	// Long bounds titles and the messages of dialogs.
	Long = 1000
	// Short bounds texts quoted in notes and summaries.
	Short = 80
)
