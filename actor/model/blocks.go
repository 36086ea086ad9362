package model

import (
	"iter"
	"slices"

	"github.com/domtap/domtap/dom"
)

// Blocks store the merged sequence. A block has the nodes of one section of it and their elements, which are handed out as a chunk. A
// change recreates only the chunk of its own block and the list of chunks.
const (
	// blockSize is the number of nodes in a new block. A change copies one pointer for each of them and one for each block, so for pages of
	// 50,000 elements the best size is about the square root of that number.
	blockSize = 256
	// smallBlock is the minimum number of nodes for which a block is kept when the sequence around it changes. This bounds the number of
	// blocks to little more than the number of nodes divided by smallBlock.
	smallBlock = 64
)

type block struct {
	nodes []*node
	// elements is parallel to nodes. While chunk is set, elements was handed out and must not be modified.
	elements []*dom.Element
	chunk    *dom.Chunk
	// index is the block's position among the blocks, while nodes are sorted.
	index int
}

// own makes the elements writable.
func (b *block) own() {
	if b.chunk != nil {
		b.elements, b.chunk = slices.Clone(b.elements), nil
	}
}

// put replaces the element of a node in the block.
func (b *block) put(slot int, el *dom.Element) {
	b.own()
	b.elements[slot] = el
}

// remove removes a node.
func (b *block) remove(slot int) {
	b.own()
	b.nodes, b.elements = slices.Delete(b.nodes, slot, slot+1), slices.Delete(b.elements, slot, slot+1)
	b.number(slot)
}

// insert inserts nodes.
func (b *block) insert(slot int, nodes []*node) {
	b.own()
	elements := make([]*dom.Element, len(nodes))
	for i, n := range nodes {
		n.block, elements[i] = b, n.el
	}
	b.nodes, b.elements = slices.Insert(b.nodes, slot, nodes...), slices.Insert(b.elements, slot, elements...)
	b.number(slot)
}

// number updates the slots of the nodes, beginning with the node at index from.
func (b *block) number(from int) {
	for i, n := range b.nodes[from:] {
		n.slot = from + i
	}
}

// split splits a block that has become too long.
func (s *sequence) split(b *block) {
	if len(b.nodes) <= 2*blockSize {
		return
	}
	nodes := b.nodes
	b.nodes, b.elements, b.chunk = nil, nil, nil
	pieces := []*block{b}
	for piece := range slices.Chunk(nodes, blockSize) {
		last := pieces[len(pieces)-1]
		if len(last.nodes) > 0 {
			last = new(block)
			pieces = append(pieces, last)
		}
		last.insert(0, piece)
	}
	at := slices.Index(s.blocks, b)
	s.blocks = slices.Replace(s.blocks, at, at+1, pieces...)
}

// hand returns the elements as a chunk.
func (b *block) hand() *dom.Chunk {
	if b.chunk == nil {
		b.chunk = dom.NewChunk(b.elements)
	}
	return b.chunk
}

// lead reports whether order starts with the nodes of the block.
func (b *block) lead(order []*node) bool {
	return len(b.nodes) <= len(order) && slices.Equal(b.nodes, order[:len(b.nodes)])
}

// cut divides the ordered nodes into blocks. Blocks whose nodes are unchanged are kept with their chunks.
func (s *sequence) cut(order []*node) {
	if s.holds(order) {
		return
	}
	blocks := make([]*block, 0, len(order)/blockSize+2)
	var fresh *block
	for i := 0; i < len(order); {
		n := order[i]
		if b := n.block; b != nil && n.slot == 0 && len(b.nodes) >= smallBlock && b.lead(order[i:]) {
			blocks, fresh = append(blocks, b), nil
			i += len(b.nodes)
			continue
		}
		if fresh == nil || len(fresh.nodes) == blockSize {
			fresh = new(block)
			blocks = append(blocks, fresh)
		}
		n.block, n.slot = fresh, len(fresh.nodes)
		fresh.nodes, fresh.elements = append(fresh.nodes, n), append(fresh.elements, n.el)
		i++
	}
	s.blocks, s.stale = blocks, true
}

// holds reports whether the blocks contain exactly these nodes in this order.
func (s *sequence) holds(order []*node) bool {
	for _, b := range s.blocks {
		if !b.lead(order) {
			return false
		}
		order = order[len(b.nodes):]
	}
	return len(order) == 0
}

// all iterates over the nodes of the sequence.
func (s *sequence) all() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for _, b := range s.blocks {
			for _, n := range b.nodes {
				if !yield(n) {
					return
				}
			}
		}
	}
}
