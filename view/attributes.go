package view

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// project returns the elements with only the wanted attributes. It returns the slice itself if no element has other attributes.
func (o Options) project(elements []*dom.Element) []*dom.Element {
	var out []*dom.Element
	for i, e := range elements {
		p := o.without(e)
		if p == e {
			continue
		}
		if out == nil {
			out = slices.Clone(elements)
		}
		out[i] = p
	}
	if out == nil {
		return elements
	}
	return out
}

// without returns the element without unwanted attributes. It returns the element itself if it has none.
func (o Options) without(e *dom.Element) *dom.Element {
	if len(e.Attributes) == 0 {
		return e
	}
	wanted := 0
	for name := range e.Attributes {
		if slices.Contains(o.Attributes, name) {
			wanted++
		}
	}
	if wanted == len(e.Attributes) {
		return e
	}
	p := *e
	p.Attributes = nil
	if wanted > 0 {
		p.Attributes = make(map[string]string, wanted)
		for name, value := range e.Attributes {
			if slices.Contains(o.Attributes, name) {
				p.Attributes[name] = value
			}
		}
	}
	return &p
}
