package tabview

import (
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
)

// BoxedView is a view with the boxes of one layout, and its messages. It is immutable.
type BoxedView struct {
	layout *dom.Layout
	// Boxes is parallel to the view's elements. It is nil without a layout.
	Boxes []dom.Box
	// Messages holds the elements as messages. They must not be changed, because they are sent more than once.
	Messages []*domtapv1.Element
}

// WithBoxes adds the boxes of a layout to a view. If layout is nil, the result has no boxes. The newest result is kept, so that repeated
// reads of an unchanged page cost nothing.
func (v *View) WithBoxes(layout *dom.Layout) *BoxedView {
	if p := v.placed.Load(); p != nil && p.layout == layout {
		return p
	}
	p := &BoxedView{layout: layout}
	elements := v.Elements()
	if layout != nil {
		p.Boxes = BoxesOf(elements, v.Snapshot.Elements.Slice(), layout)
	}
	p.Messages = messages.Elements(elements, p.Boxes)
	messages.Within(p.Messages, v.contexts.all())
	v.placed.Store(p)
	return p
}

// BoxesOf returns the boxes of a view's elements. The elements must be in the order of the snapshot.
func BoxesOf(elements, all []*dom.Element, layout *dom.Layout) []dom.Box {
	out := make([]dom.Box, len(elements))
	at := 0
	for i, e := range all {
		if at < len(elements) && e.Ref == elements[at].Ref {
			out[at] = layout.Boxes[i]
			at++
		}
	}
	return out
}
