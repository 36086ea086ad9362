package elementcontext

import (
	"math"
	"slices"
	"sort"

	"github.com/domtap/domtap/dom"
)

// Tree finds the elements of a page by ref and by index. It follows the changes of the page, so that the cost of examining a few elements
// depends on the changes and their surroundings, and not on the size of the page. The zero value belongs to an empty page. It is not safe
// for concurrent use.
//
// The descendants of an element follow it directly and are deeper.
type Tree struct {
	list      dom.List
	stretches []*stretch
	// of maps each element to its stretch.
	of map[dom.Ref]*stretch
	// last is the stretch that was used last.
	last *stretch
	// steps counts the steps since the start of a search.
	steps int
	// joined is the number of elements with a join.
	joined int
	// levels caches the nesting depths of the frames' documents.
	levels map[dom.FrameID]int32
}

// stretch is a chunk of the page with its position.
type stretch struct {
	chunk *dom.Chunk
	// start is the index of its first element, and index its own index among the stretches.
	start, index int
	// headings holds the indexes of headings in the chunk.
	headings []int32
	// low is the smallest join of its elements, or -1 if some are in frames.
	low int32
}

// Follow updates the tree to a page. It is fastest if the page is similar to the previous one.
func (t *Tree) Follow(list dom.List) {
	if t.list == list {
		return
	}
	now := list.Chunks()
	from, same := 0, min(len(now), len(t.stretches))
	for from < same && t.stretches[from].chunk == now[from] {
		from++
	}
	behind := 0
	for behind < same-from && t.stretches[len(t.stretches)-1-behind].chunk == now[len(now)-1-behind] {
		behind++
	}
	t.last, t.levels = nil, nil
	if from+behind == 0 { // another page: a map never shrinks
		t.of = make(map[dom.Ref]*stretch, list.Len())
		t.stretches, t.joined = nil, 0
	}
	t.replace(from, len(t.stretches)-behind, now[from:len(now)-behind])
	t.list = list
}

// replace replaces a range of stretches by the stretches of chunks. Each chunk takes over the stretch at the same position, so that only
// new elements have to be recorded.
func (t *Tree) replace(from, to int, chunks []*dom.Chunk) {
	old := t.stretches[from:to]
	type news struct {
		of    *stretch
		added []*dom.Element
	}
	all := make([]news, len(chunks))
	made := make([]*stretch, len(chunks))
	for i := range max(len(old), len(chunks)) {
		var was, is []*dom.Element
		var s *stretch
		if i < len(old) {
			s, was = old[i], old[i].chunk.Elements()
		} else {
			s = new(stretch)
		}
		if i < len(chunks) {
			is = chunks[i].Elements()
		}
		gone, added := trim(was, is)
		t.joined += countJoined(added) - countJoined(gone)
		for _, e := range gone {
			if t.of[e.Ref] == s {
				delete(t.of, e.Ref)
			}
		}
		if i < len(chunks) {
			s.chunk, s.headings, s.low = chunks[i], headings(s.headings[:0], is), lowest(is)
			all[i], made[i] = news{s, added}, s
		}
	}
	for _, n := range all {
		for _, e := range n.added {
			t.of[e.Ref] = n.of
		}
	}
	t.stretches = slices.Replace(t.stretches, from, to, made...)
	start := 0
	for i, s := range t.stretches {
		s.start, s.index = start, i
		start += len(s.chunk.Elements())
	}
}

// trim removes the common elements at both ends of two lists.
func trim(was, is []*dom.Element) (gone, added []*dom.Element) {
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return was, is
}

// countJoined counts the elements that have a join.
func countJoined(all []*dom.Element) (n int) {
	for _, e := range all {
		if e.Join != 0 {
			n++
		}
	}
	return n
}

// lowest returns the smallest join of elements, or -1 if some are in frames.
func lowest(all []*dom.Element) int32 {
	low := int32(frameJoin)
	for _, e := range all {
		if e.Frame != "" {
			return -1
		}
		low = min(low, int32(e.Join))
	}
	return low
}

// join returns the join of the element at an index, as in newJoins.
func (t *Tree) join(i int32) int32 {
	e := t.at(i)
	switch {
	case t.joined == 0:
		return int32(e.Depth)
	case e.Frame == "":
		return int32(e.Join)
	}
	return int32(e.Join) + t.level(i, e.Frame)*frameJoin
}

// level returns the number of frames that contain an element.
func (t *Tree) level(i int32, frame dom.FrameID) int32 {
	if n, known := t.levels[frame]; known {
		return n
	}
	n := int32(1)
	for up := t.parent(i); up >= 0; up = t.parent(up) {
		if outer := t.at(up).Frame; outer != frame {
			if outer != "" {
				n += t.level(up, outer)
			}
			break
		}
	}
	if t.levels == nil {
		t.levels = map[dom.FrameID]int32{}
	}
	t.levels[frame] = n
	return n
}

// common returns the depth of the closest common ancestor of two elements. i must precede j.
func (t *Tree) common(i, j int32) int32 {
	low := int32(math.MaxInt32)
	for k := t.stretchAt(j).index; k >= 0; k-- {
		s := t.stretches[k]
		t.steps++
		start, last := int32(s.start), int32(s.start+len(s.chunk.Elements())-1)
		if start > i && last <= j && s.low >= 0 && t.joined > 0 {
			low = min(low, s.low)
			continue
		}
		for at := max(start, i+1); at <= min(last, j); at++ {
			low = min(low, t.join(at))
		}
		if start <= i {
			break
		}
	}
	return low
}

// headings appends the indexes of headings among elements.
func headings(to []int32, all []*dom.Element) []int32 {
	for i, e := range all {
		if isHeading(e) {
			to = append(to, int32(i))
		}
	}
	return to
}

// place returns the index of an element, or -1 if it is not on the page.
func (t *Tree) place(ref dom.Ref) int32 {
	s := t.of[ref]
	if s == nil {
		return -1
	}
	at := slices.IndexFunc(s.chunk.Elements(), func(e *dom.Element) bool { return e.Ref == ref })
	t.steps += at / 16 // each comparison is cheaper than a lookup by index
	return int32(s.start + at)
}

// stretchAt returns the stretch that contains an index.
func (t *Tree) stretchAt(i int32) *stretch {
	t.steps++
	if s := t.last; s == nil || int(i) < s.start || int(i) >= s.start+len(s.chunk.Elements()) {
		t.last = t.stretches[sort.Search(len(t.stretches), func(k int) bool { return t.stretches[k].start > int(i) })-1]
	}
	return t.last
}

// at returns the element at an index.
func (t *Tree) at(i int32) *dom.Element {
	s := t.stretchAt(i)
	return s.chunk.Elements()[int(i)-s.start]
}

// end returns the index after the last descendant of an element, or limit if that is smaller.
func (t *Tree) end(i, limit int32) int32 {
	depth := t.at(i).Depth
	limit = min(limit, int32(t.list.Len()))
	for j := i + 1; j < limit; j++ {
		if t.at(j).Depth <= depth {
			return j
		}
	}
	return limit
}

// holds reports whether element i is element j or an ancestor of it.
func (t *Tree) holds(i, j int32) bool {
	for depth := t.at(i).Depth; j > i && t.at(j).Depth > depth; {
		j = t.parent(j)
	}
	return i == j
}

// headingBefore returns the index of the last heading before an index, or -1 if there is none.
func (t *Tree) headingBefore(i int32) int32 {
	for k := t.stretchAt(i).index; k >= 0; k-- {
		t.steps++
		s := t.stretches[k]
		n, _ := slices.BinarySearch(s.headings, i-int32(s.start))
		if n > 0 {
			return int32(s.start) + s.headings[n-1]
		}
	}
	return -1
}

// parent returns the index of the parent of an element, or -1 if there is none.
func (t *Tree) parent(i int32) int32 {
	e := t.at(i)
	if e.Parent == dom.NoRef {
		return -1
	}
	return t.place(e.Parent)
}

// scopedHeading returns the last heading before an element that is directly inside one of its ancestors, or -1 if there is none.
func (t *Tree) scopedHeading(i int32) int32 {
	for {
		up := t.parent(i)
		ref := dom.NoRef
		if up >= 0 {
			ref = t.at(up).Ref
		}
		for h := t.headingBefore(i); h > up; h = t.headingBefore(h) {
			if t.at(h).Parent == ref {
				return h
			}
		}
		if up < 0 {
			return -1
		}
		i = up
	}
}
