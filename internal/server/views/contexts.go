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

// tree has the elements of a page by refs and places. It follows the page by its changes, once for all selections.
type tree struct {
	mu   sync.Mutex
	tree elementcontext.Tree
}

// tell finds the contexts of those of some elements that share role and name with others of a list. It returns false when
// they are too many to look at them alone.
func (n *names) tell(t *tree, page, list dom.List, some []*dom.Element, f *elementcontext.Found) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names.Follow(list)
	if !slices.ContainsFunc(some, n.names.Shares) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tree.Follow(page)
	return n.names.Tell(&t.tree, some, f)
}

// contexts finds the contexts of a view's elements when they are first asked for: where elements share role and name,
// the work for all of them follows the length of the page. nil has none.
type contexts struct {
	names *names
	tree  *tree
	page  dom.List
	// of has what the filters of the view select. Limits do not count, so that all parts of a view say the same.
	of   dom.List
	tell func() compact.Contexts

	mu sync.Mutex
	// some has those of elements that were asked for alone, until isAll says that all are looked at, too.
	some  elementcontext.Found
	isAll bool
}

// contexts tells apart what was chosen of a page.
func (c chosen) contexts(t *Tab, page *dom.Snapshot) *contexts {
	return &contexts{names: c.names, tree: &t.tree, page: page.Elements, of: c.all, tell: sync.OnceValue(func() compact.Contexts {
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

// each returns a function that says whether an element has a context, and a map that has the context then. The caller
// uses them alone.
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

// look finds the contexts of some elements, and adds them to others.
func (c *contexts) look(to compact.Contexts, some ...*dom.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isAll {
		c.isAll = !c.names.tell(c.tree, c.page, c.of, some, &c.some)
	}
	all := c.some.Contexts
	if c.isAll {
		all = c.tell()
	}
	for _, e := range some {
		if one, has := all[e.Ref]; has {
			to[e.Ref] = one
		}
	}
}

// in returns the contexts that the added and changed elements of a diff need: none when they are unique, as in most
// changes.
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

// Contexts returns the contexts of the added and changed elements of a diff among all elements of a page. It costs what
// changed since the last call, unless many elements have the role and name of one of them.
func (t *Tab) Contexts(page *dom.Snapshot, d diff.Diff) compact.Contexts {
	return chosen{all: page.Elements, names: &t.page}.contexts(t, page).in(d)
}

// Ambiguous reports whether elements of a view share role and name, so that what stands around them says which one each
// is. It costs what changed since the view before.
func Ambiguous(v *View) bool { return v.contexts.any() }

// Contexts says which one an element of a view is, of several with its role and name: nil without any such, and in DENSE,
// which has its own. It is empty when nothing tells them apart.
func Contexts(v *View) compact.Contexts { return v.contexts.all() }
