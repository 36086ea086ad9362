package diff

import "github.com/domtap/domtap/dom"

// Compute returns the diff from old to current, with the minimum number of moves of the nodes in both lists. The common beginning and end of
// the lists cost one comparison of pointers per unchanged element. Only the elements between are matched by ref, in O(n log n).
func Compute(old, current []*dom.Element) Diff {
	var d Diff
	shorter := min(len(old), len(current))
	head := 0
	for ; head < shorter; head++ {
		if a, b := old[head], current[head]; a != b {
			if a.Ref != b.Ref {
				break
			}
			d.compare(head, head, a, b)
		}
	}
	oldEnd, currentEnd := len(old), len(current)
	for oldEnd > head && currentEnd > head && sameNode(old[oldEnd-1], current[currentEnd-1]) {
		oldEnd--
		currentEnd--
	}
	d.match(old[head:oldEnd], current[head:currentEnd], head)
	for i, a := range old[oldEnd:] {
		if b := current[currentEnd+i]; a != b {
			d.compare(oldEnd+i, currentEnd+i, a, b)
		}
	}
	return d
}

func sameNode(a, b *dom.Element) bool {
	return a == b || a.Ref == b.Ref
}

// compare records the difference of a node at index i of the older list and j of the newer list.
func (d *Diff) compare(i, j int, a, b *dom.Element) {
	switch {
	case a.Key() != b.Key():
		d.Removed = append(d.Removed, Removed{Index: i, Element: a})
		d.Added = append(d.Added, Added{Index: j, Element: b})
	case !a.Same(b):
		d.Changed = append(d.Changed, Changed{Index: i, To: j, Old: a, New: b})
	}
}

// match records the difference of two sublists that start at the same index in their lists.
func (d *Diff) match(old, current []*dom.Element, start int) {
	if len(old) == 0 && len(current) == 0 {
		return
	}
	from, lives := survivors(old, current)
	for i, e := range old {
		if !lives[i] {
			d.Removed = append(d.Removed, Removed{Index: start + i, Element: e})
		}
	}
	stays := longestRise(from)
	for j, e := range current {
		i := int(from[j])
		if i < 0 {
			d.Added = append(d.Added, Added{Index: start + j, Element: e})
			continue
		}
		if !stays[j] {
			d.Moved = append(d.Moved, Moved{From: start + i, To: start + j, Element: e})
		}
		if !old[i].Same(e) {
			d.Changed = append(d.Changed, Changed{Index: start + i, To: start + j, Old: old[i], New: e})
		}
	}
}

// survivors returns, for each element of current, the index of the same node with the same key in old, or -1 if there is none, and for each
// element of old whether it has such an index.
func survivors(old, current []*dom.Element) (from []int32, lives []bool) {
	from, lives = make([]int32, len(current)), make([]bool, len(old))
	places := indexByRef(old)
	for j, e := range current {
		from[j] = -1
		i, ok := places.find(e.Ref)
		if ok && !lives[i] && old[i].Key() == e.Key() {
			from[j], lives[i] = int32(i), true
		}
	}
	return from, lives
}

// longestRise marks one longest strictly increasing subsequence of the values that are not negative.
func longestRise[T int | int32](values []T) []bool {
	// ends[k] is the index of the smallest value that ends an increasing subsequence of length k+1.
	ends := make([]int32, 0, len(values))
	before := make([]int32, len(values))
	for j, v := range values {
		if v < 0 {
			continue
		}
		k := len(ends)
		if k > 0 && values[ends[k-1]] >= v {
			k = firstNotBelow(values, ends, v)
			ends[k] = int32(j)
		} else {
			ends = append(ends, int32(j))
		}
		before[j] = -1
		if k > 0 {
			before[j] = ends[k-1]
		}
	}
	marks := make([]bool, len(values))
	if len(ends) > 0 {
		for j := ends[len(ends)-1]; j >= 0; j = before[j] {
			marks[j] = true
		}
	}
	return marks
}

// firstNotBelow returns the first k for which values[ends[k]] >= v. This holds at least for the last one.
func firstNotBelow[T int | int32](values []T, ends []int32, v T) int {
	low, high := 0, len(ends)-1
	for low < high {
		mid := int(uint(low+high) >> 1)
		if values[ends[mid]] < v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// refIndex finds elements by ref. The refs of a page are mostly close together, so a plain table is used; a map would take most of
// Compute's time.
type refIndex struct {
	low    dom.Ref
	dense  []int32 // index + 1; 0 means none
	sparse map[dom.Ref]int32
}

// indexByRef indexes a list. Of several elements with the same ref, the first one counts.
func indexByRef(list []*dom.Element) refIndex {
	if len(list) == 0 {
		return refIndex{}
	}
	low, high := list[0].Ref, list[0].Ref
	for _, e := range list {
		low, high = min(low, e.Ref), max(high, e.Ref)
	}
	if uint64(high-low) > 8*uint64(len(list))+64 {
		sparse := make(map[dom.Ref]int32, len(list))
		for i, e := range list {
			if _, ok := sparse[e.Ref]; !ok {
				sparse[e.Ref] = int32(i)
			}
		}
		return refIndex{sparse: sparse}
	}
	dense := make([]int32, high-low+1)
	for i, e := range list {
		if p := &dense[e.Ref-low]; *p == 0 {
			*p = int32(i) + 1
		}
	}
	return refIndex{low: low, dense: dense}
}

func (x refIndex) find(ref dom.Ref) (int, bool) {
	if x.sparse != nil {
		i, ok := x.sparse[ref]
		return int(i), ok
	}
	if ref < x.low || uint64(ref-x.low) >= uint64(len(x.dense)) {
		return 0, false
	}
	i := int(x.dense[ref-x.low]) - 1
	return i, i >= 0
}
