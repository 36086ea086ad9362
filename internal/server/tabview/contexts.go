package tabview

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// names holds the names of the selected elements of one selection. It is updated with the changes of the page, so that a change costs
// nothing for the rest of a page in which all names are unique.
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

// tree indexes the elements of a page by ref and position. It is updated with the changes of the page, once for all selections.
type tree struct {
	mu   sync.Mutex
	tree elementcontext.Tree
}

// distinguish finds a context for each wanted element that shares role and name with other elements of a list. It returns false if they are
// too many to handle individually.
func (n *names) distinguish(t *tree, page, list dom.List, wanted []*dom.Element, f *elementcontext.Found) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names.Follow(list)
	if !slices.ContainsFunc(wanted, n.names.Shares) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tree.Follow(page)
	return n.names.Distinguish(&t.tree, wanted, f)
}

// contexts finds the contexts of a view's elements on first use. If elements share role and name, the cost of finding all contexts is
// proportional to the length of the page. A nil *contexts finds none.
type contexts struct {
	names *names
	tree  *tree
	page  dom.List
	// of holds the elements that the filters of the view select. Limits are ignored, so that all parts of a view use the same contexts.
	of   dom.List
	tell func() compact.Contexts

	mu sync.Mutex
	// some holds the contexts of elements that were looked up individually. isAll is set when all contexts were computed instead.
	some  elementcontext.Found
	isAll bool
}

// contexts returns the contexts of the chosen elements of a page.
func (c selected) contexts(t *Tab, page *dom.Snapshot) *contexts {
	return &contexts{names: c.names, tree: &t.tree, page: page.Elements, of: c.all, tell: sync.OnceValue(func() compact.Contexts {
		return elementcontext.Distinguish(page.Elements.Slice(), c.all.Slice())
	})}
}

// any reports whether elements of the view share role and name.
func (c *contexts) any() bool { return c != nil && c.names.any(c.of) }

// all returns the contexts of all elements. It returns nil if all are unique.
func (c *contexts) all() compact.Contexts {
	if !c.any() {
		return nil
	}
	return c.tell()
}

// each returns a function that reports whether an element has a context, and the map to which the function adds that context. They are not
// safe for concurrent use.
func (c *contexts) each() (has func(*dom.Element) bool, found compact.Contexts) {
	found = compact.Contexts{}
	if !c.any() {
		return func(*dom.Element) bool { return false }, found
	}
	return func(e *dom.Element) bool {
		c.look(found, e)
		_, has := found[e.Ref]
		return has
	}, found
}

// look adds the contexts of some elements to a map.
func (c *contexts) look(to compact.Contexts, elements ...*dom.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isAll {
		c.isAll = !c.names.distinguish(c.tree, c.page, c.of, elements, &c.some)
	}
	all := c.some.Contexts
	if c.isAll {
		all = c.tell()
	}
	for _, e := range elements {
		if one, has := all[e.Ref]; has {
			to[e.Ref] = one
		}
	}
}

// in returns the contexts that the added and changed elements of a diff need. Mostly there are none, because the elements are unique.
func (c *contexts) in(d diff.Diff) compact.Contexts {
	if c == nil || len(d.Added)+len(d.Changed) == 0 {
		return nil
	}
	some := make([]*dom.Element, 0, len(d.Added)+len(d.Changed))
	for _, a := range d.Added {
		some = append(some, a.Element)
	}
	for _, one := range d.Changed {
		some = append(some, one.New)
	}
	found := compact.Contexts{}
	c.look(found, some...)
	return found
}

// Contexts returns the contexts of the added and changed elements of a diff among all elements of a page. The cost is proportional to the
// changes since the last call, unless many elements share the role and name of one of them.
func (t *Tab) Contexts(page *dom.Snapshot, d diff.Diff) compact.Contexts {
	return selected{all: page.Elements, names: &t.page}.contexts(t, page).in(d)
}

// Ambiguous reports whether elements of a view share role and name and need contexts. The cost is proportional to the changes since the
// previous view.
func Ambiguous(v *View) bool { return v.contexts.any() }

// Contexts returns the contexts that distinguish elements of a view with the same role and name. It returns nil if there are no such
// elements, and for DENSE, which finds its own contexts. The map is empty if nothing distinguishes the elements.
func Contexts(v *View) compact.Contexts { return v.contexts.all() }
