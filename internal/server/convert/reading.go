package convert

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/markdown"
)

// maxOutline limits the headings of an outline.
const maxOutline = 200

// Outline converts the first headings of a document. cursor returns the cursor of a block.
func Outline(headings []markdown.Heading, cursor func(block int) string) []*domtapv1.ReadHeading {
	out := make([]*domtapv1.ReadHeading, 0, min(len(headings), maxOutline))
	for _, h := range headings[:min(len(headings), maxOutline)] {
		out = append(out, &domtapv1.ReadHeading{Level: int32(h.Level), Text: h.Text, Cursor: cursor(h.Block)})
	}
	return out
}

// Mark returns the mark of an element with a box.
func Mark(e *domtapv1.Element) *domtapv1.Mark {
	return &domtapv1.Mark{Ref: e.GetRef(), Rect: e.GetRect(), Name: e.GetText()}
}
