package views

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// names are the names of what a selection selects. They follow its changes, so that a change of a page in which all
// names are unique costs nothing for the rest of the page.
type names struct {
	mu    sync.Mutex
	names elementcontext.Names
}

// any reports whether elements of a list share role and name.
func (n *names) any(list dom.List) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names.Follow(list)
	return n.names.Any()
}

// shared reports whether one of some elements shares role and name with others of a list.
func (n *names) shared(list dom.List, some func(shares func(*dom.Element) bool) bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names.Follow(list)
	return some(n.names.Shares)
}

// contexts finds the contexts of a view's elements when they are first asked for: where elements share role and name,
// the work follows the length of the page. nil has none.
type contexts struct {
	names *names
	// of has what the filters of the view select. Limits do not count, so that all parts of a view say the same.
	of   dom.List
	tell func() compact.Contexts
}

// contexts tells apart what was chosen of a page.
func (c chosen) contexts(page *dom.Snapshot) *contexts {
	return &contexts{c.names, c.all, sync.OnceValue(func() compact.Contexts {
		return elementcontext.Tell(page.Elements.Slice(), c.all.Slice())
	})}
}

// any reports whether elements of the view share role and name.
func (c *contexts) any() bool { return c != nil && c.names.any(c.of) }

// all returns the contexts of all elements; nil when all are unique.
func (c *contexts) all() compact.Contexts {
	if !c.any() {
		return nil
	}
	return c.tell()
}

// in returns the contexts that the added and changed elements of a diff need: nil when they are unique, as in most
// changes.
func (c *contexts) in(d diff.Diff) compact.Contexts {
	if c == nil || len(d.Added)+len(d.Changed) == 0 {
		return nil
	}
	if !c.names.shared(c.of, func(shares func(*dom.Element) bool) bool {
		return slices.ContainsFunc(d.Added, func(a diff.Added) bool { return shares(a.Element) }) ||
			slices.ContainsFunc(d.Changed, func(one diff.Changed) bool { return shares(one.New) })
	}) {
		return nil
	}
	return c.tell()
}

// Contexts returns the contexts of the added and changed elements of a diff among all elements of a page. It costs what
// changed since the last call, unless one of them shares its role and name with others.
func (t *Tab) Contexts(page *dom.Snapshot, d diff.Diff) compact.Contexts {
	return chosen{all: page.Elements, names: &t.page}.contexts(page).in(d)
}

// Ambiguous reports whether elements of a view share role and name, so that what stands around them says which one each
// is. It costs what changed since the view before.
func Ambiguous(v *View) bool { return v.contexts.any() }

// Contexts says which one an element of a view is, of several with its role and name: nil without any such, and in DENSE,
// which has its own. It is empty when nothing tells them apart.
func Contexts(v *View) compact.Contexts { return v.contexts.all() }
