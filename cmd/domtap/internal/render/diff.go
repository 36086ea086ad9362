package render

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
)

// Diff returns a diff in the DIFF format, for answers without text. It returns an empty string if nothing changed. If a
// diff lists fewer entries than it counts, the last line of the section reports that.
func Diff(d *domtapv1.Diff) string { return text.DiffWith(d, Line) }
