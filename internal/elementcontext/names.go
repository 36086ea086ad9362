package elementcontext

import (
	"hash/maphash"
	"slices"

	"github.com/domtap/domtap/dom"
)

// Names counts the elements of a list by role and name, and so knows which of them have others alike, as Tell finds them.
// It follows the list by its changes, so that a look costs what changed and not what is there. The zero value is that of
// an empty list. It may not be used from several goroutines at once.
type Names struct {
	list dom.List
	// groups has the elements by the hashes of their roles and names: pages have many, nearly all of them unique.
	groups map[uint64]alikes
	// unlike is how many groups have several elements that are not links to one place.
	unlike int
}

// hashOf is the hash of an element's role and name.
func hashOf(e *dom.Element) uint64 {
	return maphash.String(seed, e.Text) ^ maphash.String(seed, e.Role)<<1
}

// alikes are the elements of one role and name.
type alikes struct {
	n int32
	// one is the ref of the only one; several has the refs where there are more, and is nil otherwise.
	one     dom.Ref
	several map[dom.Ref]struct{}
	// href is where all of them lead, if hrefs is nil; otherwise hrefs counts the elements by where they lead.
	href  string
	hrefs map[string]int
}

// isUnlike reports whether there are several, which are not links to one place; see isOneLink.
func (a *alikes) isUnlike() bool { return a.n > 1 && (a.hrefs != nil || a.href == "") }

// Follow makes the names those of a list, which is best one of a state next to the last one.
func (n *Names) Follow(list dom.List) {
	if n.groups == nil {
		n.groups = make(map[uint64]alikes, list.Len())
	}
	gaps := dom.Gaps(n.list, list)
	for _, gap := range gaps { // first, because an element may have moved to an earlier gap
		for _, e := range gap.Old {
			n.count(e, -1)
		}
	}
	for _, gap := range gaps {
		for _, e := range gap.Now {
			n.count(e, +1)
		}
	}
	n.list = list
}

// Any reports whether Tell would look for contexts: several elements that can be acted on have one role and name, and are
// not links to one place.
func (n *Names) Any() bool { return n.unlike > 0 }

// Shares reports whether an element is one of those.
func (n *Names) Shares(e *dom.Element) bool {
	if e.Kind != dom.Interactive || n.unlike == 0 {
		return false
	}
	known := n.groups[hashOf(e)]
	return known.isUnlike()
}

// count adds an element, or takes one out.
func (n *Names) count(e *dom.Element, by int) {
	if e.Kind != dom.Interactive {
		return
	}
	of := hashOf(e)
	a := n.groups[of]
	if a.n == 0 {
		a.href = e.Href
	}
	was := a.isUnlike()
	a.note(e.Ref, by)
	a.count(e.Href, by)
	switch is := a.isUnlike(); {
	case is && !was:
		n.unlike++
	case was && !is:
		n.unlike--
	}
	if a.n == 0 {
		delete(n.groups, of)
		return
	}
	n.groups[of] = a
}

// note adds a ref, or takes one out.
func (a *alikes) note(ref dom.Ref, by int) {
	switch {
	case a.n == 0:
		a.one = ref
	case by < 0:
		delete(a.several, ref)
		if len(a.several) == 1 {
			for a.one = range a.several {
			}
			a.several = nil
		}
	default:
		if a.several == nil {
			a.several = map[dom.Ref]struct{}{a.one: {}}
		}
		a.several[ref] = struct{}{}
	}
}

func (a *alikes) count(href string, by int) {
	if a.hrefs == nil && a.n != 0 && href != a.href {
		a.hrefs = map[string]int{a.href: int(a.n)}
	}
	a.n += int32(by)
	if a.hrefs == nil {
		return
	}
	if a.hrefs[href] += by; a.hrefs[href] == 0 {
		delete(a.hrefs, href)
	}
	if len(a.hrefs) == 1 {
		for href := range a.hrefs {
			a.href, a.hrefs = href, nil
		}
	}
}

// repeated reports whether an element of the list shares role and name with others of the list.
func (n *Names) repeated(e *dom.Element) bool {
	if e.Kind != dom.Interactive {
		return false
	}
	known := n.groups[hashOf(e)]
	_, is := known.several[e.Ref]
	return is
}

// The bounds of Names.Tell, beyond which Tell costs less.
const (
	// One in maxAlike of a page may be alike, and minAlike/maxAlike on any page.
	maxAlike, minAlike = 8, 1000
	// maxSteps is how many looks there may be for each element of the page, and minSteps on any page.
	maxSteps, minSteps = 2, 10_000
)

// Found has contexts of some elements of a page, and grows as more are asked for. The zero value has none.
type Found struct {
	// Contexts are those found so far.
	Contexts map[dom.Ref]Context
	// told are the hashes of the roles and names that were looked for, steps how many looks that took.
	told  map[uint64]struct{}
	steps int
}

// Tell finds the contexts of some elements of the list, those that Tell(all, list) has for them, where the tree is that of
// all elements of the page. It costs what stands around these and those of their roles and names, each of which is looked
// for once. It returns false when Tell costs less, because they are many.
func (n *Names) Tell(t *Tree, some []*dom.Element, f *Found) bool {
	if f.told == nil {
		f.told = map[uint64]struct{}{}
	}
	if f.Contexts == nil {
		f.Contexts = map[dom.Ref]Context{}
	}
	p := &page{structure{tree: t, names: n}, map[int32][]saying{}}
	t.steps = f.steps
	defer func() { f.steps = t.steps }()
	for _, e := range some {
		of := hashOf(e)
		if _, told := f.told[of]; told || !n.Shares(e) {
			continue
		}
		f.told[of] = struct{}{}
		alike := n.groups[of].several
		if maxAlike*len(alike) > t.list.Len()+minAlike {
			return false
		}
		group := make([]int32, 0, len(alike))
		for ref := range alike {
			if at := t.place(ref); at >= 0 {
				group = append(group, at)
			}
		}
		slices.Sort(group)
		if p.tell(group, f.Contexts); p.isTooMuch() {
			return false
		}
	}
	return true
}
