package tablog

import (
	"errors"
	"slices"

	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

const (
	// maxChunk is how many elements a chunk has at most that a Reader makes.
	maxChunk = 256
	// maxElements is how many elements a list has at most: more than the observers of any page keep together.
	maxElements = 1 << 21
)

// splices returns what leads from one list to another. Elements that did not change are in none, unless they moved.
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

// index returns where elements stand.
func index(all []*dom.Element) map[*dom.Element]int {
	places := make(map[*dom.Element]int, len(all))
	for i, e := range all {
		places[e] = i
	}
	return places
}

// meet returns the first places from i and j on where both sides of a gap go on alike, or their ends.
func meet(g dom.Gap, places map[*dom.Element]int, i, j int) (int, int) {
	for a := i; a < len(g.Now); a++ {
		if b, ok := places[g.Now[a]]; ok && b >= j {
			return a, b
		}
	}
	return len(g.Now), len(g.Old)
}

// errSplice says that splices do not fit their list.
var errSplice = errors.New("tablog: the changes of a record do not fit the elements before it")

// splice applies splices to a list of chunks. Those that no splice touches are kept, and so are known elements that equal new ones.
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

// equal reports whether elements are equal in everything.
func equal(a, b *dom.Element) bool {
	return a.Same(b) && a.Whole == b.Whole && a.Join == b.Join && a.InViewport == b.InViewport && a.Covered == b.Covered
}

// editor makes a list of chunks from another one.
type editor struct {
	// rest are the chunks that were not taken yet; of the first one, off elements were.
	rest []*dom.Chunk
	off  int
	// made are the new chunks, loose the elements behind them that are in none yet, and size counts both.
	made  []*dom.Chunk
	loose []*dom.Element
	size  int
}

// copyTo takes elements until the new list has n; false when it has more, or there are too few.
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

// skip leaves n elements out; false when there are too few.
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

// pass goes on behind n elements of the first chunk.
func (e *editor) pass(n int) {
	if e.off += n; e.off == len(e.rest[0].Elements()) {
		e.rest, e.off = e.rest[1:], 0
	}
}

// keep takes the first chunk as it is.
func (e *editor) keep() {
	e.flush()
	e.made = append(e.made, e.rest[0])
	e.size += len(e.rest[0].Elements())
	e.rest = e.rest[1:]
}

// copyRest takes all that is left.
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

// flush makes chunks of the loose elements, none of them small where there are many.
func (e *editor) flush() {
	n := (len(e.loose) + maxChunk - 1) / maxChunk
	for i := range n {
		from, to := len(e.loose)*i/n, len(e.loose)*(i+1)/n
		e.made = append(e.made, dom.NewChunk(slices.Clone(e.loose[from:to])))
	}
	e.loose = e.loose[:0]
}
