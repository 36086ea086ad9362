package model

import "github.com/domtap/domtap/dom"

// viewport is the size of the top-level viewport; false when it was never measured.
func (m *Model) viewport() (dom.Box, bool) {
	d := m.frames[""]
	if d == nil || !d.measured {
		return dom.Box{}, false
	}
	return dom.Box{Width: d.scroll.Width, Height: d.scroll.Height}, true
}

// offsets finds out where every document stands in the top-level viewport, and whether behind a modal. The box of a host is that
// of its content, so a frame's viewport starts at its corner.
func (m *Model) offsets() {
	for _, d := range m.placed {
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

// look derives InViewport and Covered from the boxes and what came with them.
func (m *Model) look() {
	m.layout = nil
	viewport, known := m.viewport()
	if !known {
		return
	}
	m.offsets()
	for n := range m.all() {
		in := n.boxed && n.rect().Meets(viewport)
		covered := n.covered || n.doc.covered
		if in != n.el.InViewport || covered != n.el.Covered {
			el := m.edit(n)
			el.InViewport, el.Covered = in, covered
		}
	}
}

// Layout returns the boxes of the sequence; nil when the main document was never measured. Elements
// that were never measured have the zero box. The result is immutable.
func (m *Model) Layout() *dom.Layout {
	if m.layout != nil {
		return m.layout
	}
	viewport, known := m.viewport()
	if !known {
		return nil
	}
	m.offsets()
	l := &dom.Layout{Viewport: viewport, Boxes: make([]dom.Box, 0, len(m.nodes))}
	for n := range m.all() {
		var box dom.Box
		if n.boxed {
			box = n.rect()
		}
		l.Boxes = append(l.Boxes, box)
	}
	m.layout = l
	return l
}
