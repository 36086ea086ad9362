// Package heal says which element of a page, if any, is what another one, that is gone, was rendered anew as (Heir),
// and whether one that is still there has become something else (Reused). It is pure over two states of the page:
// the one that had the element, and the one of now.
//
// It would rather find nothing than the wrong one, because what is found is acted on. An element is the heir of one
// that is gone when all of this holds:
//
//   - Both are of the same frame, role and type, and the one that is gone had something to know it by: a name, a link
//     or a name attribute.
//   - It is the only one in its frame with the key (tag, text, href, name) of the one that is gone, and that was the
//     only one then. Where no element has the key: it is the only one with the role and name, that one was, and it
//     stands in the same place: below ancestors of the same tags and roles, and between the same neighbours, which
//     are the nearest used elements on both sides, each either the very same or of the same role and name.
//   - It was not on the page then.
//
// So of two equal buttons of which one is left, that is the heir of neither. Whoever acts must still ask the page,
// which knows more than the two states: whether the element is out of the document and not only hidden, whether
// the heir came when that had left, and whether the same words stand around it.
package heal

import "github.com/domtap/domtap/dom"

// Heir returns the element of now that an element of before was rendered anew as, or nil. Before and now are in
// document order, and gone is an element of before.
func Heir(gone *dom.Element, before, now []*dom.Element) *dom.Element {
	if !isKnowable(gone) {
		return nil
	}
	sameKey := func(el *dom.Element) bool { return el.Key() == gone.Key() }
	heir, n := only(now, gone, sameKey)
	if n == 0 {
		return renamed(gone, before, now)
	}
	if _, then := only(before, gone, sameKey); n > 1 || then != 1 {
		return nil
	}
	return fresh(heir, gone, before)
}

// renamed finds the heir of an element whose key no element has.
func renamed(gone *dom.Element, before, now []*dom.Element) *dom.Element {
	if gone.Text == "" {
		return nil
	}
	sameName := func(el *dom.Element) bool { return el.Text == gone.Text }
	heir, n := only(now, gone, sameName)
	if _, then := only(before, gone, sameName); n != 1 || then != 1 {
		return nil
	}
	if !samePlace(gone, before, heir, now) {
		return nil
	}
	return fresh(heir, gone, before)
}

// isKnowable reports whether an element has something to know it by.
func isKnowable(el *dom.Element) bool { return el.Text != "" || el.Href != "" || el.Name != "" }

// only returns the first element that is of the kind of gone and fits, and how many there are.
func only(elements []*dom.Element, gone *dom.Element, fits func(*dom.Element) bool) (first *dom.Element, n int) {
	for _, el := range elements {
		if el.Frame != gone.Frame || el.Kind != gone.Kind || el.Role != gone.Role || el.Type != gone.Type || !fits(el) {
			continue
		}
		if n++; first == nil {
			first = el
		}
	}
	return first, n
}

// fresh returns the heir unless it was on the page when gone still was.
func fresh(heir, gone *dom.Element, before []*dom.Element) *dom.Element {
	for _, el := range before {
		if el.Ref == heir.Ref {
			return nil
		}
	}
	if heir.Ref == gone.Ref {
		return nil
	}
	return heir
}

// samePlace reports whether two elements of two states stand in the same place.
func samePlace(a *dom.Element, in []*dom.Element, b *dom.Element, at []*dom.Element) bool {
	i, j := place(in, a.Ref), place(at, b.Ref)
	if i < 0 || j < 0 {
		return false
	}
	up, also := ancestors(in, i), ancestors(at, j)
	if len(up) != len(also) {
		return false
	}
	for k := range up {
		if up[k].Tag != also[k].Tag || up[k].Role != also[k].Role {
			return false
		}
	}
	return alike(neighbour(in, i, -1), neighbour(at, j, -1)) && alike(neighbour(in, i, +1), neighbour(at, j, +1))
}

// ancestors lists the elements that the one at an index stands in, innermost first. They stand before it.
func ancestors(elements []*dom.Element, i int) []*dom.Element {
	var up []*dom.Element
	parent := elements[i].Parent
	for i--; i >= 0 && parent != dom.NoRef; i-- {
		if elements[i].Ref == parent {
			up = append(up, elements[i])
			parent = elements[i].Parent
		}
	}
	return up
}

// neighbour returns the nearest used element of the same frame in a direction, nil at the end.
func neighbour(elements []*dom.Element, i, step int) *dom.Element {
	if i = next(elements, i, step); i < 0 {
		return nil
	}
	return elements[i]
}

// alike reports whether two neighbours are the same, or look so.
func alike(a, b *dom.Element) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Ref == b.Ref || a.Role == b.Role && a.Text == b.Text && a.Tag == b.Tag
}
