// Package heal finds the element of a page that is the re-rendered version of an element that is gone (Replacement), and decides whether an
// element that still exists has become a different one (Reused). Its functions only compare two states of the page: an earlier one with the
// element, and the current one.
//
// The package prefers no result over a wrong one, because callers act on the result. An element is the replacement of a gone element if all
// of the following holds:
//
//   - Both have the same frame, role and type, and the element that is gone has an identifying property: a name, a link or a name
//     attribute.
//   - The replacement is the only element in its frame with the key (tag, text, href, name) of the element that is gone, which was also the only
//     one with this key. If no element has the key, the replacement must be the only one with the role and name, which must have been unique
//     before too, and must be at the same place: below ancestors of the same tags and roles, and between the same neighbours. The
//     neighbours are the nearest interactive elements on both sides; they must be identical or have the same tag, role and name.
//   - The replacement was not on the page in the earlier state.
//
// If one of two equal buttons remains, it is therefore the replacement of neither. Before acting, callers must also ask the page, which
// knows more than the two states: whether the old element has left the document and is not only hidden, whether the replacement was added
// when the old element left, and whether both have the same surrounding text.
package heal

import "github.com/domtap/domtap/dom"

// Replacement returns the element of the list current that is the re-rendered version of old, or nil. Both lists are in document order, and
// old is an element of before.
func Replacement(old *dom.Element, before, current []*dom.Element) *dom.Element {
	if !isKnowable(old) {
		return nil
	}
	sameKey := func(el *dom.Element) bool { return el.Key() == old.Key() }
	replacement, n := firstLike(current, old, sameKey)
	if n == 0 {
		return renamed(old, before, current)
	}
	if _, then := firstLike(before, old, sameKey); n > 1 || then != 1 {
		return nil
	}
	return fresh(replacement, old, before)
}

// renamed finds the replacement if no current element has the key of old.
func renamed(old *dom.Element, before, current []*dom.Element) *dom.Element {
	if old.Text == "" {
		return nil
	}
	sameName := func(el *dom.Element) bool { return el.Text == old.Text }
	replacement, n := firstLike(current, old, sameName)
	if _, then := firstLike(before, old, sameName); n != 1 || then != 1 {
		return nil
	}
	if !samePlace(old, before, replacement, current) {
		return nil
	}
	return fresh(replacement, old, before)
}

// isKnowable reports whether an element has an identifying property.
func isKnowable(el *dom.Element) bool { return el.Text != "" || el.Href != "" || el.Name != "" }

// firstLike returns the first element that has the frame, kind, role and type of old and for which fits returns true, and the number of such elements.
func firstLike(elements []*dom.Element, old *dom.Element, fits func(*dom.Element) bool) (first *dom.Element, n int) {
	for _, el := range elements {
		if el.Frame != old.Frame || el.Kind != old.Kind || el.Role != old.Role || el.Type != old.Type || !fits(el) {
			continue
		}
		if n++; first == nil {
			first = el
		}
	}
	return first, n
}

// fresh returns the replacement, or nil if it is also in the list before.
func fresh(replacement, old *dom.Element, before []*dom.Element) *dom.Element {
	for _, el := range before {
		if el.Ref == replacement.Ref {
			return nil
		}
	}
	if replacement.Ref == old.Ref {
		return nil
	}
	return replacement
}

// samePlace reports whether two elements of two states are at the same place.
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

// ancestors returns the ancestors of the element at an index, innermost first. They precede it in the list.
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

// neighbour returns the nearest interactive element of the same frame in a direction, or nil at the end.
func neighbour(elements []*dom.Element, i, step int) *dom.Element {
	if i = next(elements, i, step); i < 0 {
		return nil
	}
	return elements[i]
}

// alike reports whether two neighbours are identical or have the same tag, role and text.
func alike(a, b *dom.Element) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Ref == b.Ref || a.Role == b.Role && a.Text == b.Text && a.Tag == b.Tag
}
