package model

import "github.com/domtap/domtap/dom"

// refs gives the elements their refs, and finds the present elements by them.
type refs struct {
	nodes map[dom.Ref]*node
	next  dom.Ref
}

func newRefs(next dom.Ref) *refs {
	return &refs{nodes: map[dom.Ref]*node{}, next: next}
}

// find returns the node of a ref; nil: there is none.
func (r *refs) find(ref dom.Ref) *node { return r.nodes[ref] }

// count is how many elements have a ref.
func (r *refs) count() int { return len(r.nodes) }

// wasGiven reports whether an element has had the ref.
func (r *refs) wasGiven(ref dom.Ref) bool { return ref < r.next }

// full reports whether no other element may come, when pending ones have no ref yet.
func (r *refs) full(pending int) bool {
	return len(r.nodes)+pending >= maxElements || uint64(r.next)+uint64(pending) >= uint64(dom.NoRef)-1
}

// give gives a new node the next ref.
func (r *refs) give(n *node) {
	n.el.Ref = r.next
	r.nodes[r.next] = n
	r.next++
}

// restore takes in a node whose element had its ref before.
func (r *refs) restore(n *node) { r.nodes[n.el.Ref] = n }

// release forgets a node that is gone. Its ref is not given again.
func (r *refs) release(n *node) { delete(r.nodes, n.el.Ref) }
