package model

import "github.com/domtap/domtap/dom"

// geometry derives what depends on the boxes of the elements and on how far the documents are scrolled.
type geometry struct {
	sequence *sequence
	// stale says that boxes changed since InViewport and Covered were derived from them.
	stale bool
	// layout is what was handed out last; nil: it is another now.
	layout *dom.Layout
}

// invalidate says that boxes or scroll positions changed.
func (g *geometry) invalidate() { g.stale = true }

// reordered says that the sequence is another now.
func (g *geometry) reordered() { g.layout = nil }

// viewport is the size of the top-level viewport; false when it was never measured.
func (g *geometry) viewport() (dom.Box, bool) {
	d := g.sequence.documents.main()
	if d == nil || !d.measured {
		return dom.Box{}, false
	}
	return dom.Box{Width: d.scroll.Width, Height: d.scroll.Height}, true
}

// offsets finds out where every document stands in the top-level viewport, and whether behind a modal. The box of a host is that
// of its content, so a frame's viewport starts at its corner.
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

// rect is a node's box in the top-level viewport.
func (n *node) rect() dom.Box {
	b := n.box
	b.X += n.doc.x
	b.Y += n.doc.y
	return b
}

// derive sets InViewport and Covered by the boxes and what came with them, if boxes changed.
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

// boxes returns the boxes of the sequence; nil when the main document was never measured.
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
