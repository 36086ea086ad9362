package elementcontext

import (
	"hash/maphash"

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

// alikes counts the elements of one role and name.
type alikes struct {
	n int
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
	for _, gap := range dom.Gaps(n.list, list) {
		for _, e := range gap.Old {
			n.count(e, -1)
		}
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

func (a *alikes) count(href string, by int) {
	if a.hrefs == nil && a.n != 0 && href != a.href {
		a.hrefs = map[string]int{a.href: a.n}
	}
	a.n += by
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
