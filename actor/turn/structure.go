package turn

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// position is the parent and depth of an element's children in a list without structural elements.
type position struct {
	parent dom.Ref
	depth  int
}

// WithoutStructure removes the structural elements from the elements of a snapshot and adapts parents and depths. The result equals a
// snapshot for which structural elements were never requested.
func WithoutStructure(elements dom.List) dom.List {
	all := elements.Slice()
	if !slices.ContainsFunc(all, func(el *dom.Element) bool { return el.Kind == dom.Structural }) {
		return elements
	}
	below := make(map[dom.Ref]position, len(all))
	out := make([]*dom.Element, 0, len(all))
	for _, el := range all {
		at, known := below[el.Parent]
		if !known {
			at.parent = dom.NoRef
		}
		if el.Kind == dom.Structural {
			below[el.Ref] = at
			continue
		}
		below[el.Ref] = position{el.Ref, at.depth + 1}
		if el.Parent != at.parent || el.Depth != at.depth {
			moved := *el
			moved.Parent, moved.Depth = at.parent, at.depth
			el = &moved
		}
		out = append(out, el)
	}
	return dom.ListOf(out)
}
