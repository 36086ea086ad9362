package dom

import (
	"iter"
	"slices"
	"sync"
)

// List is an immutable sequence of elements in chunks. Successive lists share the chunks in which nothing
// changed, so making, comparing and keeping lists costs what differs and a pointer for each chunk. Lists are
// equal (==) when they are the same list; the zero value is empty.
type List struct{ in *list }

type list struct {
	chunks []*Chunk
	size   int
	once   sync.Once
	flat   []*Element
}

// Chunk is an immutable stretch of a list. The same chunk has the same elements, so results for a chunk can be
// cached by its pointer.
type Chunk struct{ elements []*Element }

// NewChunk makes a chunk of elements, which nobody may write to any more.
func NewChunk(elements []*Element) *Chunk { return &Chunk{elements: elements} }

// Elements returns the elements in order. They belong to the chunk.
func (c *Chunk) Elements() []*Element { return c.elements }

// NewList makes a list of chunks, which nobody may write to any more.
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

// ListOf makes a list of elements that shares nothing with others. Nobody may write to elements any more.
func ListOf(elements []*Element) List {
	if len(elements) == 0 {
		return List{}
	}
	l := &list{chunks: []*Chunk{NewChunk(elements)}, size: len(elements)}
	return List{l}
}

// Len is the number of elements.
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

// All ranges over the elements in order.
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

// Slice returns the elements in one slice, which belongs to the list. The first call makes it, at a cost that
// follows the length of the list; it is kept for the next.
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

// Gap is a difference of two lists: Old, from index OldAt of the older list on, is replaced by Now, from index
// NowAt of the newer list on.
type Gap struct {
	OldAt, NowAt int
	Old, Now     []*Element
}

// Gaps returns where two lists differ, in order. The elements between the gaps are the same pointers. It
// compares the chunks, and looks only into chunks that the lists do not share.
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

// alike reports whether both lists have the same chunk at these places, or end there.
func (w *walk) alike(i, j int) bool {
	if i < len(w.old) && j < len(w.now) {
		return w.old[i] == w.now[j]
	}
	return i == len(w.old) && j == len(w.now)
}

// chunksAhead is how far a walk searches before it makes an index.
const chunksAhead = 6

// meet returns the next indexes from which the lists are alike again, or their ends.
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

// gap notes a stretch of each list, without what they have in common at both ends.
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

// join returns the elements of chunks that stand one behind the other.
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
