package model

import "github.com/domtap/domtap/dom"

// sequence is the merged document order of all frames: the position of each node, and the elements as they are handed out.
type sequence struct {
	documents *documents
	refs      *refs

	// blocks hold the merged document order. list is the last list that was handed out, and stale reports that the order has changed since.
	blocks []*block
	list   dom.List
	stale  bool
	// placed holds the documents in the order of the sequence, hosts before their content.
	placed []*document
	// scratch is reused memory for a pass over all documents.
	scratch []*node
	// batch counts the hand-outs. Elements that were created in the current batch may still be modified.
	batch uint64
	// pass counts the passes over all documents.
	pass uint64
	// structural reports that the sequence has changed: because of the loose nodes only, or also for other reasons if whole is set. touched
	// holds the nodes whose elements were replaced at the same position.
	structural, whole bool
	loose             []*node
	touched           []*node
}

// node is an element's position in its document.
type node struct {
	prev, next *node
	doc        *document
	parent     *node
	el         *dom.Element
	// kids counts the nodes whose parent is this node.
	kids    int
	present bool
	boxed   bool
	// covered reports whether a modal of the document makes the element unusable.
	covered bool
	// block and slot are the position in the sequence. pass is the last pass over all documents that visited the node.
	block *block
	slot  int
	pass  uint64
	// unplaced reports that the position has changed.
	unplaced bool
	// batch is the batch that created el.
	batch uint64
	box   dom.Box
}

// holds reports whether the element holds a frame.
func (n *node) holds() bool { return n.el.Kind == dom.FrameHost && n.el.Child != "" }

// isContext reports whether the element only serves to distinguish others, in a document whose patch has Contexts.
func (n *node) isContext() bool { return n.el.Kind == dom.Structural }

// newNode creates a node for a document. It is not linked yet, and ref may be NoRef.
func (s *sequence) newNode(d *document, ref dom.Ref) *node {
	return &node{doc: d, batch: s.batch, el: &dom.Element{Ref: ref, Parent: dom.NoRef, Frame: d.frame}}
}

// edit returns the element of a node for modification: a copy, unless it was created in this batch.
func (s *sequence) edit(n *node) *dom.Element {
	if n.batch != s.batch {
		el := *n.el
		n.el, n.batch = &el, s.batch
		s.touched = append(s.touched, n)
	}
	return n.el
}

// invalidate forces the next update to make a pass over all documents.
func (s *sequence) invalidate() { s.structural, s.whole = true, true }

// loosen records a node whose position in the sequence or parent has changed.
func (s *sequence) loosen(n *node, unplaced bool) {
	s.structural = true
	if n.holds() {
		s.whole = true
	}
	n.unplaced = n.unplaced || unplaced
	s.loose = append(s.loose, n)
}

// update sorts the nodes. It returns a document with an invalid order, or nil.
func (s *sequence) update() (bad *document) {
	s.structural = false
	if !s.applyLoose() {
		s.whole = false
		bad = s.arrange()
	}
	clear(s.loose)
	s.loose = s.loose[:0]
	return bad
}

// replace stores the recreated elements in the sequence.
func (s *sequence) replace() {
	for _, n := range s.touched {
		if n.present && n.block.elements[n.slot] != n.el {
			n.block.put(n.slot, n.el)
			s.stale = true
		}
	}
	clear(s.touched)
	s.touched = s.touched[:0]
}

// elements returns the sequence and ends the batch.
func (s *sequence) elements() dom.List {
	s.batch++
	if s.stale {
		s.stale = false
		chunks := make([]*dom.Chunk, len(s.blocks))
		for i, b := range s.blocks {
			chunks[i] = b.hand()
		}
		s.list = dom.NewList(chunks)
	}
	return s.list
}

// name sets the parent and depth of a node, and its ref if it has none.
func (s *sequence) name(n *node, parent dom.Ref, depth int) {
	if n.el.Ref == dom.NoRef {
		s.refs.give(n)
	}
	if n.el.Parent != parent || n.el.Depth != depth {
		el := s.edit(n)
		el.Parent, el.Depth = parent, depth
	}
}
