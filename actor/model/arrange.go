package model

import "github.com/domtap/domtap/dom"

// arrange puts the sequence together and gives refs. It returns a document whose order makes no
// sense, or nil.
func (m *Model) arrange() *document {
	m.pass++
	a := arrangement{model: m, sequence: m.scratch[:0]}
	m.placed = m.placed[:0]
	if d := m.frames[""]; d != nil {
		a.place(d, nil)
	}
	if len(m.placed) < len(m.order) {
		a.orphans()
	}
	if a.bad != nil {
		return a.bad
	}
	m.cut(a.sequence)
	clear(a.sequence)
	m.scratch = a.sequence[:0]
	return nil
}

// arrangement is one pass over the documents.
type arrangement struct {
	model    *Model
	sequence []*node
	bad      *document
}

// orphans places the frames that no placed element holds, by first sight; those that are held by
// another orphan come with it.
func (a *arrangement) orphans() {
	m := a.model
	held := map[dom.FrameID]bool{}
	for _, d := range m.order {
		if d.pass == m.pass {
			continue
		}
		for n := d.list.next; n != &d.list; n = n.next {
			if n.holds() && n.el.Child != d.frame {
				held[n.el.Child] = true
			}
		}
	}
	for _, d := range m.order {
		if !held[d.frame] {
			a.place(d, nil)
		}
	}
	for _, d := range m.order {
		a.place(d, nil)
	}
}

func (n *node) holds() bool { return n.el.Kind == dom.FrameHost && n.el.Child != "" }

// place appends a document's elements, unless it stands in the sequence already. Frames nest at most
// as deep as there are frames, which bounds the recursion.
func (a *arrangement) place(d *document, host *node) {
	m := a.model
	if d.pass == m.pass || a.bad != nil {
		return
	}
	d.pass, d.host = m.pass, host
	m.placed = append(m.placed, d)
	top, depth := d.top()
	for n := d.list.next; n != &d.list; n = n.next {
		parent, deep := top, depth
		if n.parent != nil {
			if n.parent.pass != m.pass {
				a.bad = d
				return
			}
			parent, deep = n.parent.el.Ref, n.parent.el.Depth+1
		}
		a.add(n, parent, deep)
		if n.holds() {
			if child := m.frames[n.el.Child]; child != nil {
				a.place(child, n)
			}
		}
	}
}

func (a *arrangement) add(n *node, parent dom.Ref, depth int) {
	a.model.name(n, parent, depth)
	n.pass, n.unplaced = a.model.pass, false
	a.sequence = append(a.sequence, n)
}
