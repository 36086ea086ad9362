package messages

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Boxed holds the elements of a view and their boxes. The slices are parallel.
type Boxed struct {
	Elements []*dom.Element
	Boxes    []dom.Box
}

// WithBoxes adds elements whose boxes differ to the changes between two views. An element counts if its node and key are the same in both
// views. The change is in the field "rect", such as "10,20 300x40" (x, y, width and height). WithBoxes returns the changes in the order of
// the newer view, and does not modify its arguments. It adds nothing if one of the views has no boxes.
func WithBoxes(changes []*domtapv1.ChangedElement, old, now Boxed) []*domtapv1.ChangedElement {
	if len(old.Boxes) != len(old.Elements) || len(now.Boxes) != len(now.Elements) {
		return changes
	}
	places := make(map[dom.Ref]int, len(old.Elements))
	for i, e := range old.Elements {
		places[e.Ref] = i
	}
	out := slices.Clone(changes)
	known := make(map[dom.Ref]int, len(changes))
	for i, c := range changes {
		known[dom.Ref(c.GetRef())] = i
	}
	for i, e := range now.Elements {
		j, ok := places[e.Ref]
		if !ok || old.Boxes[j] == now.Boxes[i] || old.Elements[j].Key() != e.Key() {
			continue
		}
		m := moved(e, i, old.Boxes[j], now.Boxes[i])
		if k, ok := known[e.Ref]; ok {
			m.Fields = slices.Concat(changes[k].GetFields(), m.Fields)
			out[k] = m
		} else {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *domtapv1.ChangedElement) int {
		return cmp.Compare(a.GetElement().GetIndex(), b.GetElement().GetIndex())
	})
	return out
}

// moved returns the change of an element whose box differs.
func moved(e *dom.Element, index int, from, to dom.Box) *domtapv1.ChangedElement {
	s := newArena(1)
	m := s.add(e, index)
	m.Rect = s.rect(to)
	field := &domtapv1.FieldChange{Field: "rect", Old: boxText(from), New: boxText(to)}
	return &domtapv1.ChangedElement{Ref: uint32(e.Ref), Fields: []*domtapv1.FieldChange{field}, Element: m}
}

// boxText formats a box as "x,y widthxheight".
func boxText(b dom.Box) string {
	n := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return n(b.X) + "," + n(b.Y) + " " + n(b.Width) + "x" + n(b.Height)
}
