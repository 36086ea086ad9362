package tablog

import (
	"errors"
	"slices"

	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

const (
	// maxChunk is the maximum number of elements in a chunk that a Reader creates.
	maxChunk = 256
	// maxElements is the maximum number of elements in a list. It exceeds what the observers of one page keep together.
	maxElements = 1 << 21
)

// splices returns the splices that turn one list into another. They contain no unchanged elements except those that moved.
func splices(old, now dom.List) []*clusterv1.Splice {
	var out []*clusterv1.Splice
	for _, g := range dom.Gaps(old, now) {
		var places map[*dom.Element]int
		for i, j := 0, 0; i < len(g.Now) || j < len(g.Old); {
			if i < len(g.Now) && j < len(g.Old) && g.Now[i] == g.Old[j] {
				i, j = i+1, j+1
				continue
			}
			if places == nil {
				places = index(g.Old)
			}
			a, b := meet(g, places, i, j)
			out = append(out, &clusterv1.Splice{At: uint32(g.NowAt + i), Removed: uint32(b - j), Elements: storedElements(g.Now[i:a])})
			i, j = a, b
		}
	}
	return out
}

// index returns the positions of elements.
func index(all []*dom.Element) map[*dom.Element]int {
	places := make(map[*dom.Element]int, len(all))
	for i, e := range all {
		places[e] = i
	}
	return places
}

// meet returns the first positions from i and j on at which both lists agree again, or the ends of the lists.
func meet(g dom.Gap, places map[*dom.Element]int, i, j int) (int, int) {
	for a := i; a < len(g.Now); a++ {
		if b, ok := places[g.Now[a]]; ok && b >= j {
			return a, b
		}
	}
	return len(g.Now), len(g.Old)
}

// errSplice reports that splices do not fit their list.
var errSplice = errors.New("tablog: the changes of a record do not fit the elements before it")

// splice applies splices to a list of chunks. It keeps chunks that no splice touches, and known elements that equal new ones.
func splice(old []*dom.Chunk, all []*clusterv1.Splice, known map[dom.Ref]*dom.Element) ([]*dom.Chunk, error) {
	if len(all) == 0 {
		return old, nil
	}
	e := editor{rest: old}
	for _, one := range all {
		if len(one.GetElements()) > maxElements || !e.copyTo(int(one.GetAt())) || !e.skip(int(one.GetRemoved())) {
			return nil, errSplice
		}
		for _, m := range one.GetElements() {
			el, err := element(m)
			if err != nil {
				return nil, err
			}
			if was := known[el.Ref]; was != nil && equal(was, el) {
				el = was
			}
			e.loose = append(e.loose, el)
			e.size++
		}
	}
	e.copyRest()
	if e.size > maxElements {
		return nil, errSplice
	}
	return e.made, nil
}

// equal reports whether all fields of two elements are equal.
func equal(a, b *dom.Element) bool {
	return a.Same(b) && a.Whole == b.Whole && a.Join == b.Join && a.InViewport == b.InViewport && a.Covered == b.Covered
}

// editor builds a list of chunks from another list.
type editor struct {
	// rest holds the chunks not copied yet. The first off elements of the first chunk are already copied or skipped.
	rest []*dom.Chunk
	off  int
	// made holds the new chunks. loose holds the elements after them that are not in a chunk yet. size counts both.
	made  []*dom.Chunk
	loose []*dom.Element
	size  int
}

// copyTo copies elements until the new list has n. It returns false if the list has more, or if too few are left.
func (e *editor) copyTo(n int) bool {
	for e.size < n {
		if len(e.rest) == 0 {
			return false
		}
		chunk := e.rest[0].Elements()
		if e.off == 0 && e.size+len(chunk) <= n {
			e.keep()
			continue
		}
		take := min(len(chunk)-e.off, n-e.size)
		e.loose = append(e.loose, chunk[e.off:e.off+take]...)
		e.size += take
		e.pass(take)
	}
	return e.size == n
}

// skip skips n elements. It returns false if too few are left.
func (e *editor) skip(n int) bool {
	for n > 0 {
		if len(e.rest) == 0 {
			return false
		}
		take := min(len(e.rest[0].Elements())-e.off, n)
		e.pass(take)
		n -= take
	}
	return true
}

// pass advances past n elements of the first chunk.
func (e *editor) pass(n int) {
	if e.off += n; e.off == len(e.rest[0].Elements()) {
		e.rest, e.off = e.rest[1:], 0
	}
}

// keep reuses the first chunk unchanged.
func (e *editor) keep() {
	e.flush()
	e.made = append(e.made, e.rest[0])
	e.size += len(e.rest[0].Elements())
	e.rest = e.rest[1:]
}

// copyRest copies all remaining elements.
func (e *editor) copyRest() {
	if e.off > 0 {
		left := e.rest[0].Elements()[e.off:]
		e.loose = append(e.loose, left...)
		e.size += len(left)
		e.pass(len(left))
	}
	for len(e.rest) > 0 {
		e.keep()
	}
	e.flush()
}

// flush turns the loose elements into chunks of similar size.
func (e *editor) flush() {
	n := (len(e.loose) + maxChunk - 1) / maxChunk
	for i := range n {
		from, to := len(e.loose)*i/n, len(e.loose)*(i+1)/n
		e.made = append(e.made, dom.NewChunk(slices.Clone(e.loose[from:to])))
	}
	e.loose = e.loose[:0]
}
