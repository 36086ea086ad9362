package turn

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// TestBranchesOfOpenParents finds the options below an open item: in it, on deeper levels after it, or in another list after it.
func TestBranchesOfOpenParents(t *testing.T) {
	const list, next = dom.Ref(90), dom.Ref(91)
	item := func(ref, parent dom.Ref, level int) *dom.Element {
		return &dom.Element{Ref: ref, Parent: parent, Level: level}
	}
	for name, c := range map[string]struct {
		options []*dom.Element
		want    int
	}{
		"nested":        {[]*dom.Element{item(1, list, 0), item(2, 1, 0), item(3, list, 0)}, 1},
		"levels":        {[]*dom.Element{item(1, list, 1), item(2, list, 2), item(3, list, 3), item(4, list, 1), item(5, list, 2)}, 2},
		"columns":       {[]*dom.Element{item(1, list, 0), item(2, list, 0), item(3, next, 0), item(4, next, 0)}, 2},
		"without signs": {[]*dom.Element{item(1, list, 0), item(2, list, 0), item(3, list, 0)}, 0},
	} {
		if got := branchOf(c.options[0], c.options, func(el *dom.Element) bool { return el.Parent == 1 }); len(got) != c.want {
			t.Errorf("%s: %d options, want %d", name, len(got), c.want)
		}
	}
}
