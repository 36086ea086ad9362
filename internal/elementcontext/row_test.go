package elementcontext

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// TestTheRowOfACell reads a row whose second cell has its words in an element, and whose last cell contains only a button.
func TestTheRowOfACell(t *testing.T) {
	elements := []*dom.Element{
		{Ref: 1, Role: "row", Parent: dom.NoRef},
		{Ref: 2, Role: "cell", Text: "C-7", Parent: 1, Depth: 1},
		{Ref: 3, Role: "cell", Parent: 1, Depth: 1},
		{Ref: 4, Role: "generic", Text: "active", Parent: 3, Depth: 2},
		{Ref: 5, Role: "cell", Text: "Ada", Parent: 1, Depth: 1},
		{Ref: 9, Role: "cell", Parent: 1, Depth: 1},
		{Ref: 10, Role: "button", Text: "Delete", Parent: 9, Depth: 2},
		{Ref: 6, Role: "row", Parent: dom.NoRef},
		{Ref: 7, Role: "cell", Text: "alone", Parent: 6, Depth: 1},
		{Ref: 8, Role: "paragraph", Text: "text", Parent: dom.NoRef},
	}
	if got, ok := Row(elements, 4); !ok || got.Words != "C-7 | active | Ada" || got.Of != elements[0] {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, at := range []int{8, 9} {
		if got, ok := Row(elements, at); ok {
			t.Errorf("element %d: got %v", at, got)
		}
	}
}
