package elementcontext

import "github.com/domtap/domtap/dom"

// structure holds the elements of a page with their positions. It is created from all elements, or finds them in a tree.
type structure struct {
	// tree and names replace the other fields if the structure was not created from all elements. Otherwise they are nil.
	tree  *Tree
	names *Names

	all   []*dom.Element
	joins *joins
	// shared holds the depths of the common ancestors of adjacent members of the measured group, and -1 at both ends. No two members have a
	// common ancestor deeper than height.
	shared []int32
	height int32
	// parent is the index of each element's parent, or -1. The descendants of element i are at i+1 up to, but not including, its end.
	parent, end []int32
	// heading is the nearest heading before each element, and scoped the nearest one directly inside an ancestor, or -1.
	heading, scoped []int32
	// repeated reports whether an element shares role and name with others, so that it distinguishes nothing.
	repeated []bool
}

// isHeading reports whether an element is a heading that may name what follows it.
func isHeading(e *dom.Element) bool { return e.Role == "heading" && e.Text != "" }

// len returns the number of elements.
func (s *structure) len() int32 {
	if s.tree != nil {
		return int32(s.tree.list.Len())
	}
	return int32(len(s.all))
}

// at returns the element at an index.
func (s *structure) at(i int32) *dom.Element {
	if s.tree != nil {
		return s.tree.at(i)
	}
	return s.all[i]
}

// up returns the index of the parent of an element, or -1 if there is none.
func (s *structure) up(i int32) int32 {
	if s.tree != nil {
		return s.tree.parent(i)
	}
	return s.parent[i]
}

// endOf returns the index after the last descendant of an element, or limit if that is smaller.
func (s *structure) endOf(i, limit int32) int32 {
	if s.tree != nil {
		return s.tree.end(i, limit)
	}
	return min(s.end[i], limit)
}

// holds reports whether element i is element j or an ancestor of it. j must not precede i.
func (s *structure) holds(i, j int32) bool {
	if s.tree != nil {
		return s.tree.holds(i, j)
	}
	return j < s.end[i]
}

// headingBefore returns the nearest heading before an element, and headingAround the nearest one directly inside an ancestor, or -1 if
// there is none.
func (s *structure) headingBefore(i int32) int32 {
	if s.tree != nil {
		return s.tree.headingBefore(i)
	}
	return s.heading[i]
}

func (s *structure) headingAround(i int32) int32 {
	if s.tree != nil {
		return s.tree.scopedHeading(i)
	}
	return s.scoped[i]
}

// isRepeated reports whether an element shares role and name with others.
func (s *structure) isRepeated(i int32) bool {
	if s.tree != nil {
		return s.names.repeated(s.tree.at(i))
	}
	return s.repeated[i]
}

// exceedsBudget reports whether so many steps were made in the tree that examining all elements is cheaper.
func (s *structure) exceedsBudget() bool {
	return s.tree != nil && s.tree.steps > maxSteps*s.tree.list.Len()+minSteps
}
