package heal

import (
	"strings"
	"unicode"

	"github.com/domtap/domtap/dom"
)

// reach is how many used elements on each side of one are looked at by Reused.
const reach = 3

// Use says whether an element that is still there is what it was.
type Use uint8

// The uses.
const (
	// Same: nothing says that it is another thing.
	Same Use = iota
	// Doubtful: what stands around it says something else, or the element says as much as a row of a list does and says
	// something else. The page, which knows the row, has the last word.
	Doubtful
	// Other: it is another thing.
	Other
)

// Reused says whether an element that is still there is something else than when somebody was told of it, and what
// it was then. Lists that show a part of many things reuse their elements: the row that said "Apple" says "Pear" when
// the list is scrolled. It is something else when it has another role, or says something else: also "Pause" where it
// said "Play". Whether it is becomes doubtful when one of its neighbours says something else: "Delete", behind another
// name now.
//
// Neighbours are the three used elements before and behind it in its frame, as they stood then, as far as they are
// still there. Numbers and signs do not count, so that a counter may count, and a neighbour may say more.
func Reused(ref dom.Ref, told, now []*dom.Element) (was *dom.Element, use Use) {
	i := place(told, ref)
	if i < 0 {
		return nil, Same
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
	then, current := find(told, append(refs, ref)), find(now, append(refs, ref))
	is := current[ref]
	switch {
	case is == nil:
		return was, Same
	case is.Role != was.Role || is.Tag != was.Tag:
		return was, Other
	case !sameWords(was, is) && !mayBeRow(is.Role):
		return was, Other
	}
	for ref, was := range then {
		if is := current[ref]; is != nil && is != was && !sameWords(was, is) && !continues(was, is) {
			use = Doubtful
		}
	}
	return was, use
}

// mayBeRow reports whether an element of a role may be a row, which is called what stands in it.
func mayBeRow(role string) bool {
	switch role {
	case "row", "listitem", "option", "treeitem", "article", "generic":
		return true
	}
	return false
}

// continues reports whether one of two states of an element says all that the other says.
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
