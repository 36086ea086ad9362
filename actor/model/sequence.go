package model

import "github.com/domtap/domtap/dom"

// sequence is the merged document order of all frames: where each node stands, and the elements as
// they are handed out.
type sequence struct {
	documents *documents
	refs      *refs

	// blocks are the merged document order; list is how it was handed out last, and stale says that
	// the order is another now.
	blocks []*block
	list   dom.List
	stale  bool
	// placed holds the documents as they stand in the sequence, hosts before what they hold.
	placed []*document
	// scratch is memory for the next pass over all documents.
	scratch []*node
	// batch counts the hand-outs: elements made in this batch may still be written to.
	batch uint64
	// pass counts the passes over all documents.
	pass uint64
	// structural says that the sequence is another now: by the loose nodes, or, when whole is set too,
	// for other reasons. touched holds the nodes whose elements were replaced where they stand.
	structural, whole bool
	loose             []*node
	touched           []*node
}

// node is an element's place in its document.
type node struct {
	prev, next *node
	doc        *document
	parent     *node
	el         *dom.Element
	// kids counts the nodes that have this one as parent.
	kids    int
	present bool
	boxed   bool
	// covered says that a modal of the document makes the element useless.
	covered bool
	// block and slot are the place in the sequence, and pass is the last pass over all documents that came by.
	block *block
	slot  int
	pass  uint64
	// unplaced says that the place is another now.
	unplaced bool
	// batch is the batch that made el.
	batch uint64
	box   dom.Box
}

// holds reports whether the element holds a frame.
func (n *node) holds() bool { return n.el.Kind == dom.FrameHost && n.el.Child != "" }

// isContext reports whether the element only tells others apart, in a document whose patch has Contexts.
func (n *node) isContext() bool { return n.el.Kind == dom.Structural }

// newNode makes a node of a document, which is not linked yet; ref may be NoRef.
func (s *sequence) newNode(d *document, ref dom.Ref) *node {
	return &node{doc: d, batch: s.batch, el: &dom.Element{Ref: ref, Parent: dom.NoRef, Frame: d.frame}}
}

// edit returns the element of a node for writing: a copy, unless it was made in this batch.
func (s *sequence) edit(n *node) *dom.Element {
	if n.batch != s.batch {
		el := *n.el
		n.el, n.batch = &el, s.batch
		s.touched = append(s.touched, n)
	}
	return n.el
}

// invalidate makes the next update a pass over all documents.
func (s *sequence) invalidate() { s.structural, s.whole = true, true }

// loosen notes a node whose place in the sequence, or whose parent, is another now.
func (s *sequence) loosen(n *node, unplaced bool) {
	s.structural = true
	if n.holds() {
		s.whole = true
	}
	n.unplaced = n.unplaced || unplaced
	s.loose = append(s.loose, n)
}

// update puts the nodes in order. It returns a document whose order makes no sense, or nil.
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

// replace puts the elements that were made anew into the sequence.
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

// elements hands out the sequence, and ends the batch.
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

// name gives a node its ref, unless it has one, and its parent and depth.
func (s *sequence) name(n *node, parent dom.Ref, depth int) {
	if n.el.Ref == dom.NoRef {
		s.refs.give(n)
	}
	if n.el.Parent != parent || n.el.Depth != depth {
		el := s.edit(n)
		el.Parent, el.Depth = parent, depth
	}
}
