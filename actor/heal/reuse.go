package heal

import (
	"strings"
	"unicode"

	"github.com/domtap/domtap/dom"
)

// reach is the number of interactive elements on each side of an element that Reused compares.
const reach = 3

// ReuseKind is the result of Reused.
type ReuseKind uint8

// The values of ReuseKind.
const (
	// Same means that nothing indicates a different element.
	Same ReuseKind = iota
	// Doubtful means that the text of a neighbour has changed, or that the element may be a list row and its text has changed. The page,
	// which knows the row, has to decide.
	Doubtful
	// Other means that it is a different element.
	Other
)

// Reused reports whether an element that still exists has become a different one since a caller was told about it, and returns its earlier
// state. Virtual lists reuse their elements: the row "Apple" becomes "Pear" when the list is scrolled. An element is a different one if its
// role or its text has changed, such as "Play" to "Pause". The result is Doubtful if the text of a neighbour has changed, such as the name
// beside a "Delete" button.
//
// Neighbours are the three interactive elements before and after it in its frame in the earlier state, if they still exist. Changes of
// digits and punctuation are ignored, so that counters may count, and a neighbour's text may grow.
func Reused(ref dom.Ref, earlier, current []*dom.Element) (was *dom.Element, use ReuseKind) {
	i := place(earlier, ref)
	if i < 0 {
		return nil, Same
	}
	was = earlier[i]
	var refs []dom.Ref
	for _, step := range []int{-1, +1} {
		for n, j := 0, i; n < reach; n++ {
			if j = next(earlier, j, step); j < 0 {
				break
			}
			refs = append(refs, earlier[j].Ref)
		}
	}
	then, now := find(earlier, append(refs, ref)), find(current, append(refs, ref))
	is := now[ref]
	switch {
	case is == nil:
		return was, Same
	case is.Role != was.Role || is.Tag != was.Tag:
		return was, Other
	case !sameWords(was, is) && !mayBeRow(is.Role):
		return was, Other
	}
	for ref, was := range then {
		if is := now[ref]; is != nil && is != was && !sameWords(was, is) && !continues(was, is) {
			use = Doubtful
		}
	}
	return was, use
}

// mayBeRow reports whether an element with a role may be a row, whose name is its content.
func mayBeRow(role string) bool {
	switch role {
	case "row", "listitem", "option", "treeitem", "article", "generic":
		return true
	}
	return false
}

// continues reports whether the text of one of two states of an element contains the text of the other.
func continues(a, b *dom.Element) bool {
	was, is := letters(a.Text), letters(b.Text)
	return a.Href == b.Href && a.Name == b.Name && was != "" && is != "" && (strings.Contains(is, was) || strings.Contains(was, is))
}

func place(elements []*dom.Element, ref dom.Ref) int {
	for i, el := range elements {
		if el.Ref == ref {
			return i
		}
	}
	return -1
}

// next returns the index of the next interactive element of the same frame in a direction, or -1 if there is none.
func next(elements []*dom.Element, i, step int) int {
	frame := elements[i].Frame
	for i += step; i >= 0 && i < len(elements); i += step {
		if elements[i].Frame == frame && elements[i].Kind == dom.Interactive {
			return i
		}
	}
	return -1
}

// find returns the elements with the given refs in one pass.
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

// sameWords reports whether two states of an element have the same text, ignoring digits and punctuation.
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
