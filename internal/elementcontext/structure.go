package elementcontext

import "github.com/domtap/domtap/dom"

// structure has the elements of a page with their places. It is made of all elements, or finds them in a tree.
type structure struct {
	// tree and names have what the other fields have, for a structure that was not made of all elements; else nil.
	tree  *Tree
	names *Names

	all   []*dom.Element
	joins *joins
	// shared has the depths of the common ancestors of the elements of the group that is looked at, each with the one
	// before it, and -1 at both ends. No two of the group have one below height.
	shared []int32
	height int32
	// parent is the place of the element around each; -1: there is none. The elements in element i are those from i+1
	// to its end.
	parent, end []int32
	// heading has the nearest heading before each element, scoped the nearest one that stands in an element around;
	// -1: there is none.
	heading, scoped []int32
	// repeated are elements that share role and name with others, so that they tell nothing apart.
	repeated []bool
}

// isHeading reports whether what follows an element may be named by it.
func isHeading(e *dom.Element) bool { return e.Role == "heading" && e.Text != "" }

// len is the number of elements.
func (s *structure) len() int32 {
	if s.tree != nil {
		return int32(s.tree.list.Len())
	}
	return int32(len(s.all))
}

// at returns the element at a place.
func (s *structure) at(i int32) *dom.Element {
	if s.tree != nil {
		return s.tree.at(i)
	}
	return s.all[i]
}

// up returns the place of the element around one; -1: there is none.
func (s *structure) up(i int32) int32 {
	if s.tree != nil {
		return s.tree.parent(i)
	}
	return s.parent[i]
}

// endOf returns the place behind the last element in an element, or a limit that comes before.
func (s *structure) endOf(i, limit int32) int32 {
	if s.tree != nil {
		return s.tree.end(i, limit)
	}
	return min(s.end[i], limit)
}

// holds reports whether an element is another one that does not stand before it, or stands around it.
func (s *structure) holds(i, j int32) bool {
	if s.tree != nil {
		return s.tree.holds(i, j)
	}
	return j < s.end[i]
}

// headingBefore returns the nearest heading before an element, headingAround the nearest one that stands in an element
// around; -1: there is none.
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

// isTooMuch reports whether so much was looked at in the tree that all elements should be looked at instead.
func (s *structure) isTooMuch() bool {
	return s.tree != nil && s.tree.steps > maxSteps*s.tree.list.Len()+minSteps
}
