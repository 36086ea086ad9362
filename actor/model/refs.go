package model

import "github.com/domtap/domtap/dom"

// refs assigns refs to elements, and finds the present elements by ref.
type refs struct {
	nodes map[dom.Ref]*node
	next  dom.Ref
}

func newRefs(next dom.Ref) *refs {
	return &refs{nodes: map[dom.Ref]*node{}, next: next}
}

// find returns the node of a ref, or nil if there is none.
func (r *refs) find(ref dom.Ref) *node { return r.nodes[ref] }

// count returns the number of elements with a ref.
func (r *refs) count() int { return len(r.nodes) }

// wasGiven reports whether the ref was ever assigned.
func (r *refs) wasGiven(ref dom.Ref) bool { return ref < r.next }

// full reports whether no more elements may be added, given the number of pending elements without a ref.
func (r *refs) full(pending int) bool {
	return len(r.nodes)+pending >= maxElements || uint64(r.next)+uint64(pending) >= uint64(dom.NoRef)-1
}

// give assigns the next ref to a new node.
func (r *refs) give(n *node) {
	n.el.Ref = r.next
	r.nodes[r.next] = n
	r.next++
}

// restore adds a node whose element already has its ref.
func (r *refs) restore(n *node) { r.nodes[n.el.Ref] = n }

// release removes a node that is gone. Its ref is not reused.
func (r *refs) release(n *node) { delete(r.nodes, n.el.Ref) }
