package heal

import (
	"strings"
	"unicode"

	"github.com/domtap/domtap/dom"
)

// reach is how many used elements on each side of one are looked at by Reused.
const reach = 3

// Reused reports whether an element that is still there is something else than when somebody was told of it, and what
// it was then. Lists that show a part of many things reuse their elements: the row that said "Apple" says "Pear" when
// the list is scrolled. It is something else when
//
//   - it has another role, or says something else: also "Pause" where it said "Play"; or
//   - one of its neighbours says something else: "Delete", behind another name now.
//
// Neighbours are the three used elements before and behind it in its frame, as they stood then, as far as they are
// still there. Numbers and signs do not count, so that a counter may count.
func Reused(ref dom.Ref, told, now []*dom.Element) (was *dom.Element, reused bool) {
	i := place(told, ref)
	if i < 0 {
		return nil, false
	}
	was = told[i]
	var refs []dom.Ref
	for _, step := range []int{-1, +1} {
		for n, j := 0, i; n < reach; n++ {
			if j = next(told, j, step); j < 0 {
				break
			}
			refs = append(refs, told[j].Ref)
		}
	}
	refs = append(refs, ref)
	then, current := find(told, refs), find(now, refs)
	for ref, was := range then {
		if is := current[ref]; is != nil && is != was && !sameWords(was, is) {
			return told[i], true
		}
	}
	is := current[ref]
	return was, is != nil && (is.Role != was.Role || is.Tag != was.Tag)
}

func place(elements []*dom.Element, ref dom.Ref) int {
	for i, el := range elements {
		if el.Ref == ref {
			return i
		}
	}
	return -1
}

// next is the index of the next used element of the same frame in a direction; -1: there is none.
func next(elements []*dom.Element, i, step int) int {
	frame := elements[i].Frame
	for i += step; i >= 0 && i < len(elements); i += step {
		if elements[i].Frame == frame && elements[i].Kind == dom.Interactive {
			return i
		}
	}
	return -1
}

// find finds some elements in one pass.
func find(elements []*dom.Element, refs []dom.Ref) map[dom.Ref]*dom.Element {
	found := make(map[dom.Ref]*dom.Element, len(refs))
	for _, ref := range refs {
		found[ref] = nil
	}
	for _, el := range elements {
		if _, wanted := found[el.Ref]; wanted {
			found[el.Ref] = el
		}
	}
	return found
}

// sameWords reports whether two states of an element say the same but for numbers and signs.
func sameWords(a, b *dom.Element) bool {
	if a.Key() == b.Key() {
		return true
	}
	return a.Href == b.Href && a.Name == b.Name && letters(a.Text) == letters(b.Text) && (letters(a.Text) != "" || a.Text == b.Text)
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, s)
}
