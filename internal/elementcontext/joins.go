package elementcontext

import (
	"math/bits"
	"slices"

	"github.com/domtap/domtap/dom"
)

// frameJoin is added to the joins of a document for each frame that contains it, because the elements inside a frame belong together more
// closely than those around it.
const frameJoin = 1 << 13

// joins holds the depths of the common ancestors of the elements of a page; see dom.Element.Join.
type joins struct {
	// low[k][i] is the smallest join of the 1<<k elements starting at i.
	low [][]int32
}

// newJoins prepares the joins of a page. If no element has a join, the page was not read with structural elements by this version, and the
// depths in the stored DOM are used instead.
func newJoins(all []*dom.Element, parent []int32) *joins {
	first := make([]int32, len(all))
	isJoined := false
	level := map[dom.FrameID]int32{}
	for i, e := range all {
		first[i] = int32(e.Join)
		if e.Frame != "" {
			if _, known := level[e.Frame]; !known {
				level[e.Frame] = levelOf(all, parent, int32(i), level)
			}
			first[i] += level[e.Frame] * frameJoin
		}
		isJoined = isJoined || e.Join != 0
	}
	if !isJoined {
		for i, e := range all {
			first[i] = int32(e.Depth)
		}
	}
	j := &joins{low: [][]int32{first}}
	for k := 1; 1<<k <= len(all); k++ {
		last, next := j.low[k-1], make([]int32, len(all)-1<<k+1)
		for i := range next {
			next[i] = min(last[i], last[i+1<<(k-1)])
		}
		j.low = append(j.low, next)
	}
	return j
}

// levelOf returns the number of frames that contain an element.
func levelOf(all []*dom.Element, parent []int32, i int32, level map[dom.FrameID]int32) int32 {
	for up := parent[i]; up >= 0; up = parent[up] {
		if all[up].Frame != all[i].Frame {
			return level[all[up].Frame] + 1
		}
	}
	return 1
}

// between returns the depth of the closest common ancestor of two elements i and k. i must precede k.
func (j *joins) between(i, k int32) int32 {
	n := bits.Len32(uint32(k-i)) - 1
	return min(j.low[n][i+1], j.low[n][k+1-1<<n])
}

// common returns the depth of the closest common ancestor of two different elements.
func (s *structure) common(i, j int32) int32 {
	if i > j {
		i, j = j, i
	}
	if s.tree != nil {
		return s.tree.common(i, j)
	}
	return s.joins.between(i, j)
}

// join returns the depth of the closest common ancestor of an element and the previous one.
func (s *structure) join(i int32) int32 {
	if s.tree != nil {
		return s.tree.join(i)
	}
	return s.joins.low[0][i]
}

// run returns the range of elements around i that share with it an ancestor deeper than depth, with at most maxScanned elements in each
// direction.
func (s *structure) run(i, depth int32) (start, end int32) {
	start, end = i, i+1
	for start > 0 && i-start < maxScanned && s.join(start) > depth {
		start--
	}
	for end < s.len() && end-i < maxScanned && s.join(end) > depth {
		end++
	}
	return start, end
}

// measure computes the depths of the common ancestors of adjacent members of a group. closest and height then refer to this group.
func (s *structure) measure(group []int32) {
	s.shared = append(s.shared[:0], -1)
	s.height = -1
	for k := 1; k < len(group); k++ {
		depth := s.common(group[k-1], group[k])
		s.shared, s.height = append(s.shared, depth), max(s.height, depth)
	}
	s.shared = append(s.shared, -1)
}

// closest returns the depth of the deepest common ancestor of a member of the group and another member, or -1 if there are no others.
func (s *structure) closest(k int) int32 { return max(s.shared[k], s.shared[k+1]) }

// rowRoles are the roles of items among siblings of the same role.
var rowRoles = map[string]bool{"row": true, "listitem": true, "article": true, "treeitem": true, "option": true}

// areRows reports whether two elements are in two items of the same kind, such as two rows of a list, so that the words of one do not
// describe the other.
func (s *structure) areRows(i, j int32) bool {
	if i == j { // a field and its value
		return false
	}
	depth := s.common(i, j)
	a, aEnd := s.run(i, depth)
	b, bEnd := s.run(j, depth)
	one, other := s.at(a), s.at(b)
	if rowRoles[one.Role] && one.Role == other.Role && (s.holds(a, i) && s.holds(b, j)) {
		return true
	}
	if one.Tag != other.Tag || one.Kind != other.Kind {
		return false
	}
	texts, controls := s.content(a, aEnd)
	otherTexts, otherControls := s.content(b, bEnd)
	if otherControls == 0 && (one.Role == "cell" || one.Role == "gridcell") {
		return false // two cells of one row, unlike the days of a calendar
	}
	if texts == 0 { // rows of clickable cells, unlike two controls of one row
		return controls > 1 && controls == otherControls && otherTexts == 0 && !s.holds(a, aEnd-1) && !s.holds(b, bEnd-1)
	}
	return texts == otherTexts && controls > 0 && (otherControls > 0 || !s.isTitled(b, bEnd, a, aEnd, depth))
}

// isTitled reports whether the range from b precedes that from a, and their common ancestor at a depth has nothing else: it is a title with
// its content, rather than the first of several rows.
func (s *structure) isTitled(b, bEnd, a, aEnd, depth int32) bool {
	return bEnd == a && s.join(b) < depth && (aEnd == s.len() || s.join(aEnd) < depth)
}

// content counts the texts and the interactive elements in a range.
func (s *structure) content(start, end int32) (texts, controls int) {
	for i := start; i < end; i++ {
		switch e := s.at(i); {
		case e.Kind == dom.Interactive:
			controls++
		case e.Text != "":
			texts++
		}
	}
	return texts, controls
}

// isOthers reports whether an element is in the card of another member of a group.
func (s *structure) isOthers(i int32, group []int32, k int) bool {
	at, found := slices.BinarySearch(group, i)
	if found {
		return at != k
	}
	for _, other := range []int{at - 1, at} {
		if other >= 0 && other < len(group) && other != k && s.common(i, group[other]) > s.closest(other) {
			return true
		}
	}
	return false
}

// maxTitle limits how many elements may be grouped with a heading that names what follows them.
const maxTitle = 4

// heads reports whether a heading before an element may name it, because the elements grouped with the heading do not form their own
// section.
func (s *structure) heads(heading, i int32) bool {
	start, end := s.run(heading, s.common(heading, i))
	return end-start <= maxTitle && (heading == start || s.at(start).Kind != dom.Interactive)
}
