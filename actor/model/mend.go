package model

import (
	"cmp"
	"slices"

	"github.com/domtap/domtap/dom"
)

// A mend takes nodes out of the sequence and puts them in where they stand now, without a pass over all
// documents. It serves for what pages do all the time: elements come and go. What could move others along (frames,
// nodes with something below them that change places) is left to arrange, as is everything that makes no sense.

// loosen notes a node whose place in the sequence, or whose parent, is another now.
func (m *Model) loosen(n *node, unplaced bool) {
	m.structural = true
	if n.holds() {
		m.whole = true
	}
	n.unplaced = n.unplaced || unplaced
	m.loose = append(m.loose, n)
}

// mend brings the sequence up to date by the loose nodes alone. When it returns false, arrange has to.
func (m *Model) mend() bool {
	if m.whole || len(m.loose) > blockSize+len(m.nodes)/8 || len(m.blocks) > 8+3*len(m.nodes)/smallBlock {
		return false
	}
	for _, n := range m.loose {
		if n.block != nil && n.present && n.kids > 0 {
			return false
		}
	}
	m.stale = true
	for _, n := range m.loose {
		if n.unplaced && n.block != nil {
			n.block.remove(n.slot)
			n.block = nil
		}
	}
	for _, n := range m.loose {
		if n.present && n.unplaced && !m.insert(n) {
			return false
		}
	}
	m.blocks = slices.DeleteFunc(m.blocks, func(b *block) bool { return len(b.nodes) == 0 })
	return m.settle()
}

// insert puts a node, and the others in front of it and behind it that have no place either, behind what stands
// in front of them.
func (m *Model) insert(n *node) bool {
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
	case before == &d.list && d == m.frames[""]:
		if len(m.blocks) == 0 {
			m.blocks = append(m.blocks, new(block))
		}
		m.blocks[0].insert(0, run)
		m.split(m.blocks[0])
		return true
	default: // behind what a frame shows
		return false
	}
	b := before.block
	b.insert(before.slot+1, run)
	m.split(b)
	return true
}

// settle gives the loose nodes their refs, parents and depths, in document order. It returns false when one stands
// before its parent.
func (m *Model) settle() bool {
	for i, b := range m.blocks {
		b.index = i
	}
	present := slices.DeleteFunc(m.loose, func(n *node) bool { return !n.present })
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
		m.name(n, parent, depth)
	}
	return true
}

// order compares the places of two nodes in the sequence.
func order(a, b *node) int {
	return cmp.Or(cmp.Compare(a.block.index, b.block.index), cmp.Compare(a.slot, b.slot))
}

// top is what the elements of a document without a parent have for one.
func (d *document) top() (parent dom.Ref, depth int) {
	if d.host == nil {
		return dom.NoRef, 0
	}
	return d.host.el.Ref, d.host.el.Depth + 1
}

// name gives a node its ref, unless it has one, and its parent and depth.
func (m *Model) name(n *node, parent dom.Ref, depth int) {
	if n.el.Ref == dom.NoRef {
		n.el.Ref = m.next
		m.nodes[m.next] = n
		m.next++
	}
	if n.el.Parent != parent || n.el.Depth != depth {
		el := m.edit(n)
		el.Parent, el.Depth = parent, depth
	}
}
