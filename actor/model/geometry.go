package model

import "github.com/domtap/domtap/dom"

// geometry derives the values that depend on the boxes of the elements and the scroll positions of the documents.
type geometry struct {
	sequence *sequence
	// stale reports that boxes have changed since InViewport and Covered were derived.
	stale bool
	// layout is the last layout that was handed out, or nil if it is outdated.
	layout *dom.Layout
}

// invalidate records that boxes or scroll positions changed.
func (g *geometry) invalidate() { g.stale = true }

// reordered records that the sequence changed.
func (g *geometry) reordered() { g.layout = nil }

// viewport returns the size of the top-level viewport. It returns false if it was never measured.
func (g *geometry) viewport() (dom.Box, bool) {
	d := g.sequence.documents.main()
	if d == nil || !d.measured {
		return dom.Box{}, false
	}
	return dom.Box{Width: d.scroll.Width, Height: d.scroll.Height}, true
}

// offsets computes the position of every document in the top-level viewport, and whether a modal covers it. The box of a host is its
// content box, so the frame's viewport starts at its corner.
func (g *geometry) offsets() {
	for _, d := range g.sequence.placed {
		d.x, d.y = -d.scroll.X, -d.scroll.Y
		d.covered = false
		if h := d.host; h != nil {
			d.x += h.box.X + h.doc.x
			d.y += h.box.Y + h.doc.y
			d.covered = h.covered || h.doc.covered
		}
	}
}

// rect returns a node's box in the top-level viewport.
func (n *node) rect() dom.Box {
	b := n.box
	b.X += n.doc.x
	b.Y += n.doc.y
	return b
}

// derive updates InViewport and Covered if boxes have changed.
func (g *geometry) derive() {
	if !g.stale {
		return
	}
	g.stale, g.layout = false, nil
	viewport, known := g.viewport()
	if !known {
		return
	}
	g.offsets()
	for n := range g.sequence.all() {
		in := n.boxed && n.rect().Meets(viewport)
		covered := n.covered || n.doc.covered
		if in != n.el.InViewport || covered != n.el.Covered {
			el := g.sequence.edit(n)
			el.InViewport, el.Covered = in, covered
		}
	}
}

// boxes returns the boxes of the sequence, or nil if the main document was never measured.
func (g *geometry) boxes() *dom.Layout {
	if g.layout != nil {
		return g.layout
	}
	viewport, known := g.viewport()
	if !known {
		return nil
	}
	g.offsets()
	l := &dom.Layout{Viewport: viewport, Boxes: make([]dom.Box, 0, g.sequence.refs.count())}
	for n := range g.sequence.all() {
		var box dom.Box
		if n.boxed {
			box = n.rect()
		}
		l.Boxes = append(l.Boxes, box)
	}
	g.layout = l
	return l
}
