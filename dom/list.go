package dom

import (
	"iter"
	"slices"
	"sync"
)

// List is an immutable sequence of elements in chunks. Successive lists share their unchanged chunks, so the cost of creating, comparing
// and keeping lists depends on the differences, plus one pointer per chunk. Lists are equal (==) if they are the same list. The zero value
// is empty.
type List struct{ in *list }

type list struct {
	chunks []*Chunk
	size   int
	once   sync.Once
	flat   []*Element
}

// Chunk is an immutable section of a list. A chunk always has the same elements, so results for a chunk can be cached by its pointer.
type Chunk struct{ elements []*Element }

// NewChunk returns a chunk of elements. The slice must not be modified afterwards.
func NewChunk(elements []*Element) *Chunk { return &Chunk{elements: elements} }

// Elements returns the elements in order. They belong to the chunk.
func (c *Chunk) Elements() []*Element { return c.elements }

// NewList returns a list of chunks. The slice must not be modified afterwards.
func NewList(chunks []*Chunk) List {
	l := &list{chunks: chunks}
	for _, c := range chunks {
		l.size += len(c.elements)
	}
	if l.size == 0 {
		return List{}
	}
	return List{l}
}

// ListOf returns a list of elements that shares no chunks with other lists. The slice must not be modified afterwards.
func ListOf(elements []*Element) List {
	if len(elements) == 0 {
		return List{}
	}
	l := &list{chunks: []*Chunk{NewChunk(elements)}, size: len(elements)}
	return List{l}
}

// Len returns the number of elements.
func (l List) Len() int {
	if l.in == nil {
		return 0
	}
	return l.in.size
}

// Chunks returns the chunks in order. They belong to the list.
func (l List) Chunks() []*Chunk {
	if l.in == nil {
		return nil
	}
	return l.in.chunks
}

// All iterates over the elements in order.
func (l List) All() iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for _, c := range l.Chunks() {
			for _, e := range c.elements {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Slice returns the elements in one slice, which belongs to the list. The first call creates it, at a cost proportional to the length of
// the list; later calls reuse it.
func (l List) Slice() []*Element {
	if l.in == nil {
		return nil
	}
	l.in.once.Do(func() {
		if len(l.in.chunks) == 1 {
			l.in.flat = l.in.chunks[0].elements
			return
		}
		l.in.flat = make([]*Element, 0, l.in.size)
		for _, c := range l.in.chunks {
			l.in.flat = append(l.in.flat, c.elements...)
		}
	})
	return l.in.flat
}

// Gap is a difference of two lists: Old, starting at index OldAt of the older list, is replaced by Now, starting at index NowAt of the
// newer list.
type Gap struct {
	OldAt, NowAt int
	Old, Now     []*Element
}

// Gaps returns the differences of two lists, in order. The elements between the gaps are the same pointers. It compares the chunks, and
// compares elements only in chunks that the lists do not share.
func Gaps(old, now List) []Gap {
	if old == now {
		return nil
	}
	w := walk{old: old.Chunks(), now: now.Chunks()}
	for w.i < len(w.old) || w.j < len(w.now) {
		if w.alike(w.i, w.j) {
			w.oldAt += len(w.old[w.i].elements)
			w.nowAt += len(w.now[w.j].elements)
			w.i, w.j = w.i+1, w.j+1
			continue
		}
		i, j := w.meet()
		w.gap(join(w.old[w.i:i]), join(w.now[w.j:j]))
		w.i, w.j = i, j
	}
	return w.gaps
}

// walk is a pass over the chunks of two lists.
type walk struct {
	old, now     []*Chunk
	i, j         int
	oldAt, nowAt int
	places       map[*Chunk]int
	gaps         []Gap
}

// alike reports whether both lists have the same chunk at these indexes, or both end there.
func (w *walk) alike(i, j int) bool {
	if i < len(w.old) && j < len(w.now) {
		return w.old[i] == w.now[j]
	}
	return i == len(w.old) && j == len(w.now)
}

// chunksAhead limits how far a walk searches before it creates an index.
const chunksAhead = 6

// meet returns the next indexes where the lists are alike again, or their ends.
func (w *walk) meet() (int, int) {
	for far := 1; far <= chunksAhead; far++ {
		for a := range far + 1 {
			if w.alike(w.i+a, w.j+far-a) {
				return w.i + a, w.j + far - a
			}
		}
	}
	if w.places == nil {
		w.places = make(map[*Chunk]int, len(w.old))
		for at, c := range w.old {
			w.places[c] = at
		}
	}
	for j := w.j; j < len(w.now); j++ {
		if i, ok := w.places[w.now[j]]; ok && i >= w.i {
			return i, j
		}
	}
	return len(w.old), len(w.now)
}

// gap records a difference, without the common elements at both ends.
func (w *walk) gap(old, now []*Element) {
	oldAt, nowAt := w.oldAt, w.nowAt
	w.oldAt, w.nowAt = oldAt+len(old), nowAt+len(now)
	head := 0
	for shorter := min(len(old), len(now)); head < shorter && old[head] == now[head]; head++ {
	}
	old, now = old[head:], now[head:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	if len(old)+len(now) > 0 {
		w.gaps = append(w.gaps, Gap{OldAt: oldAt + head, NowAt: nowAt + head, Old: old, Now: now})
	}
}

// join returns the elements of consecutive chunks.
func join(chunks []*Chunk) []*Element {
	if len(chunks) == 1 {
		return chunks[0].elements
	}
	var parts [][]*Element
	for _, c := range chunks {
		parts = append(parts, c.elements)
	}
	return slices.Concat(parts...)
}
