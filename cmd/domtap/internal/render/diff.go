package render

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
)

// Diff prints a diff in the DIFF format, for answers that carry no text of their own; empty when nothing
// changed. A diff may list fewer entries than it counts: the section's last line says so.
func Diff(d *domtapv1.Diff) string { return text.DiffWith(d, Line) }
