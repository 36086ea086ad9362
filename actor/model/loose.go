package model

import (
	"cmp"
	"slices"
)

// applyLoose moves the loose nodes to their current places in the sequence, without a pass over all documents. It covers the common case:
// elements that come and go.
//
// It returns false for changes that could move other nodes (frames, and nodes with children that change places) and for invalid orders. The
// caller must then call arrange.
func (s *sequence) applyLoose() bool {
	if s.whole || len(s.loose) > blockSize+s.refs.count()/8 || len(s.blocks) > 8+3*s.refs.count()/smallBlock {
		return false
	}
	for _, n := range s.loose {
		if n.block != nil && n.present && n.kids > 0 {
			return false
		}
	}
	s.stale = true
	for _, n := range s.loose {
		if n.unplaced && n.block != nil {
			n.block.remove(n.slot)
			n.block = nil
		}
	}
	for _, n := range s.loose {
		if n.present && n.unplaced && !s.insert(n) {
			return false
		}
	}
	s.blocks = slices.DeleteFunc(s.blocks, func(b *block) bool { return len(b.nodes) == 0 })
	return s.settle()
}

// insert inserts a node, together with its unplaced neighbours, after the node that precedes them.
func (s *sequence) insert(n *node) bool {
	d, before := n.doc, n.prev
	for before != &d.list && before.unplaced {
		before = before.prev
	}
	var run []*node
	for n = before.next; n != &d.list && n.unplaced; n = n.next {
		n.unplaced = false
		run = append(run, n)
	}
	switch {
	case before != &d.list && !before.holds():
	case before == &d.list && d.host != nil:
		before = d.host
	case before == &d.list && d == s.documents.main():
		if len(s.blocks) == 0 {
			s.blocks = append(s.blocks, new(block))
		}
		s.blocks[0].insert(0, run)
		s.split(s.blocks[0])
		return true
	default: // the place is after the content of a frame
		return false
	}
	b := before.block
	b.insert(before.slot+1, run)
	s.split(b)
	return true
}

// settle assigns refs, parents and depths to the loose nodes, in document order. It returns false if a node precedes its parent.
func (s *sequence) settle() bool {
	for i, b := range s.blocks {
		b.index = i
	}
	present := slices.DeleteFunc(s.loose, func(n *node) bool { return !n.present })
	slices.SortFunc(present, order)
	present = slices.Compact(present)
	for _, n := range present {
		if n.parent != nil && (n.parent.block == nil || order(n.parent, n) >= 0) {
			return false
		}
	}
	for _, n := range present {
		parent, depth := n.doc.top()
		if n.parent != nil {
			parent, depth = n.parent.el.Ref, n.parent.el.Depth+1
		}
		s.name(n, parent, depth)
	}
	return true
}

// order compares the positions of two nodes in the sequence.
func order(a, b *node) int {
	return cmp.Or(cmp.Compare(a.block.index, b.block.index), cmp.Compare(a.slot, b.slot))
}
