package elementcontext

import (
	"hash/maphash"
	"slices"

	"github.com/domtap/domtap/dom"
)

// Names counts the elements of a list by role and name. It thereby determines which of them share both with others, with the same result as
// Distinguish. It follows the changes of the list, so that its cost depends on the changes and not on the length of the list. The zero
// value belongs to an empty list. It is not safe for concurrent use.
type Names struct {
	list dom.List
	// groups holds the elements by the hashes of their roles and names. Most hashes have only one element.
	groups map[uint64]sameName
	// unlike is the number of groups that have several elements and are not links to one target.
	unlike int
}

// hashOf returns the hash of an element's role and name.
func hashOf(e *dom.Element) uint64 {
	return maphash.String(seed, e.Text) ^ maphash.String(seed, e.Role)<<1
}

// sameName holds the elements of one role and name.
type sameName struct {
	n int32
	// one is the ref of the only element. several holds the refs if there are more, and is nil otherwise.
	one     dom.Ref
	several map[dom.Ref]struct{}
	// href is the target of all of them if hrefs is nil. Otherwise hrefs counts the elements by target.
	href  string
	hrefs map[string]int
}

// needsContext reports whether there are several elements that are not links to one target; see isOneLink.
func (a *sameName) needsContext() bool { return a.n > 1 && (a.hrefs != nil || a.href == "") }

// Follow updates the names to a list. It is fastest if the list is similar to the previous one.
func (n *Names) Follow(list dom.List) {
	if n.groups == nil {
		n.groups = make(map[uint64]sameName, list.Len())
	}
	gaps := dom.Gaps(n.list, list)
	for _, gap := range gaps { // removals first, because an element may have moved to an earlier gap
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

// Any reports whether Distinguish would look for contexts: several interactive elements have the same role and name, and are not links to
// one target.
func (n *Names) Any() bool { return n.unlike > 0 }

// Shares reports whether an element belongs to such a group of elements; see Any.
func (n *Names) Shares(e *dom.Element) bool {
	if e.Kind != dom.Interactive || n.unlike == 0 {
		return false
	}
	known := n.groups[hashOf(e)]
	return known.needsContext()
}

// count adds an element, or removes it if delta is negative.
func (n *Names) count(e *dom.Element, delta int) {
	if e.Kind != dom.Interactive {
		return
	}
	of := hashOf(e)
	a := n.groups[of]
	if a.n == 0 {
		a.href = e.Href
	}
	was := a.needsContext()
	a.add(e.Ref, delta)
	a.count(e.Href, delta)
	switch is := a.needsContext(); {
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

// add adds a ref, or removes it if delta is negative.
func (a *sameName) add(ref dom.Ref, delta int) {
	switch {
	case a.n == 0:
		a.one = ref
	case delta < 0:
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

func (a *sameName) count(href string, by int) {
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

// Limits of Names.Distinguish, above which Distinguish is cheaper.
const (
	// maxAlike and minAlike limit how many elements may be alike: (n+minAlike)/maxAlike on a page of n elements.
	maxAlike, minAlike = 8, 1000
	// maxSteps is the maximum number of steps per element of the page, in addition to minSteps.
	maxSteps, minSteps = 2, 10_000
)

// Found holds the contexts of some elements of a page, and grows with each request. The zero value is empty.
type Found struct {
	// Contexts holds the contexts found so far.
	Contexts map[dom.Ref]Context
	// examined holds the hashes of the roles and names that were already examined, and steps the number of steps so far.
	examined map[uint64]struct{}
	steps    int
}

// Distinguish finds the contexts of some elements of the list. They equal the contexts of Distinguish(all, list), where t is the tree of
// all elements of the page. The cost depends on the surroundings of these elements and of the elements with the same roles and names, each
// of which is examined once. It returns false if Distinguish is cheaper, because there are many such elements.
func (n *Names) Distinguish(t *Tree, some []*dom.Element, f *Found) bool {
	if f.examined == nil {
		f.examined = map[uint64]struct{}{}
	}
	if f.Contexts == nil {
		f.Contexts = map[dom.Ref]Context{}
	}
	p := &page{structure{tree: t, names: n}, map[int32][]phrase{}}
	t.steps = f.steps
	defer func() { f.steps = t.steps }()
	for _, e := range some {
		of := hashOf(e)
		if _, told := f.examined[of]; told || !n.Shares(e) {
			continue
		}
		f.examined[of] = struct{}{}
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
		if p.distinguish(group, f.Contexts); p.exceedsBudget() {
			return false
		}
	}
	return true
}
