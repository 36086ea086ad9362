package model

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// arrange rebuilds the sequence and assigns refs. It returns a document with an invalid order, or nil.
func (s *sequence) arrange() *document {
	a := arrangement{sequence: s, nodes: s.scratch[:0]}
	if slices.ContainsFunc(s.documents.order, func(d *document) bool { return d.contexts }) {
		a.numbering = true
		a.placeAll()
		a.numbering = false
	}
	a.placeAll()
	if a.bad != nil {
		return a.bad
	}
	s.cut(a.nodes)
	clear(a.nodes)
	s.scratch = a.nodes[:0]
	return nil
}

// arrangement is one pass over the documents.
type arrangement struct {
	sequence *sequence
	nodes    []*node
	bad      *document
	// numbering limits the pass to assigning refs, and only to elements that were not added because of Patch.Contexts. Those get their refs
	// in the next pass.
	numbering bool
}

// placeAll places all documents.
func (a *arrangement) placeAll() {
	s := a.sequence
	s.pass++
	s.placed = s.placed[:0]
	if d := s.documents.main(); d != nil {
		a.place(d, nil)
	}
	if len(s.placed) < len(s.documents.order) {
		a.orphans()
	}
}

// orphans places the frames that no placed element holds, in the order in which they were first seen. Frames that another orphan holds are
// placed with it.
func (a *arrangement) orphans() {
	s := a.sequence
	held := map[dom.FrameID]bool{}
	for _, d := range s.documents.order {
		if d.pass == s.pass {
			continue
		}
		for n := d.list.next; n != &d.list; n = n.next {
			if n.holds() && n.el.Child != d.frame {
				held[n.el.Child] = true
			}
		}
	}
	for _, d := range s.documents.order {
		if !held[d.frame] {
			a.place(d, nil)
		}
	}
	for _, d := range s.documents.order {
		a.place(d, nil)
	}
}

// place appends a document's elements, unless it is already in the sequence. The nesting depth of frames is at most their number, which
// bounds the recursion.
func (a *arrangement) place(d *document, host *node) {
	s := a.sequence
	if d.pass == s.pass || a.bad != nil {
		return
	}
	d.pass, d.host = s.pass, host
	s.placed = append(s.placed, d)
	top, depth := d.top()
	for n := d.list.next; n != &d.list; n = n.next {
		parent, deep := top, depth
		if n.parent != nil {
			if n.parent.pass != s.pass {
				a.bad = d
				return
			}
			parent, deep = n.parent.el.Ref, n.parent.el.Depth+1
		}
		a.add(n, parent, deep)
		if n.holds() {
			if child := s.documents.in(n.el.Child); child != nil {
				a.place(child, n)
			}
		}
	}
}

func (a *arrangement) add(n *node, parent dom.Ref, depth int) {
	if a.numbering {
		n.pass = a.sequence.pass
		if n.el.Ref == dom.NoRef && !(n.doc.contexts && n.isContext()) {
			a.sequence.refs.give(n)
		}
		return
	}
	a.sequence.name(n, parent, depth)
	n.pass, n.unplaced = a.sequence.pass, false
	a.nodes = append(a.nodes, n)
}
