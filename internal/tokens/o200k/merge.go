package o200k

import "math"

// short is the maximum size in bytes of a piece that is merged without allocations.
const short = 64

// none is the key of a pair that cannot be merged.
const none = math.MaxUint64

// merger merges a piece. The parts of the piece form a linked list, indexed by their start positions.
//
// A tree of minima has the next pair to merge at its root. Its leaves hold the keys of the pairs, indexed by start position. The upper half
// of a key is the rank of the token that the pair forms, the lower half is the position. So of two pairs with the same rank, the first is
// merged first.
type merger struct {
	text       string
	tree       []uint64 // the children of i are 2i and 2i+1; the second half holds the leaves
	next, prev []uint32
}

// merge returns the number of tokens that the bytes of a piece merge into. The piece must not be empty and must be smaller than 4 GiB.
func merge(text string) int {
	var (
		tree       [2 * short]uint64
		next, prev [short]uint32
	)
	m := merger{text, tree[:], next[:], prev[:]}
	if n := len(text); n > short {
		m = merger{text, make([]uint64, 2*n), make([]uint32, n), make([]uint32, n)}
	}
	return m.run()
}

// run merges all pairs that can be merged and returns the number of remaining parts.
func (m *merger) run() int {
	m.begin()
	parts := len(m.text)
	for m.tree[1] != none {
		m.join(uint32(m.tree[1]))
		parts--
	}
	return parts
}

// begin creates a part for each byte.
func (m *merger) begin() {
	n := len(m.text)
	for i := range n {
		m.next[i], m.prev[i] = uint32(i)+1, uint32(i)-1
	}
	for i := range n {
		m.tree[n+i] = m.key(uint32(i))
	}
	for i := n - 1; i > 0; i-- {
		m.tree[i] = min(m.tree[2*i], m.tree[2*i+1])
	}
}

// join merges the part that starts at i with the following one.
func (m *merger) join(i uint32) {
	second := m.next[i]
	after := m.next[second]
	m.next[i] = after
	if int(after) < len(m.text) {
		m.prev[after] = i
	}
	m.set(second, none)
	m.set(i, m.key(i))
	if i > 0 {
		before := m.prev[i]
		m.set(before, m.key(before))
	}
}

// key returns the key of the pair that starts at i.
func (m *merger) key(i uint32) uint64 {
	second := m.next[i]
	if int(second) == len(m.text) {
		return none
	}
	rank, ok := rank(m.text[i:m.next[second]])
	if !ok {
		return none
	}
	return uint64(rank)<<32 | uint64(i)
}

// set sets the key of the pair that starts at i.
func (m *merger) set(i uint32, key uint64) {
	at := len(m.text) + int(i)
	m.tree[at] = key
	for at > 1 {
		at /= 2
		smaller := min(m.tree[2*at], m.tree[2*at+1])
		if m.tree[at] == smaller {
			return
		}
		m.tree[at] = smaller
	}
}
