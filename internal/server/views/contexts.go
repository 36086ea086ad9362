package views

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/view"
)

// contexts finds the contexts of a view's elements when they are first asked for: the work follows the length of the page. nil has
// none.
type contexts func() compact.Contexts

// contextsIn tells apart what the filters of a view select. Limits do not count, so that all parts of a view say the same.
func contextsIn(s, selectable *dom.Snapshot, o view.Options) contexts {
	o.MaxElements, o.MaxTokens, o.Given = 0, 0, nil
	return sync.OnceValue(func() compact.Contexts {
		all, err := view.Of(selectable, o)
		if err != nil {
			return nil // the view has the error, too
		}
		return elementcontext.Tell(s.Elements.Slice(), all.Elements.Slice())
	})
}

// all returns the contexts of all elements.
func (c contexts) all() compact.Contexts {
	if c == nil {
		return nil
	}
	return c()
}

// of returns the contexts that the added and changed elements of a diff need, which leads to some elements. Where none of the former
// shares its role and name with another element, as in most changes, this costs a look at each element's name.
func (c contexts) of(d diff.Diff, elements dom.List) compact.Contexts {
	wanted := map[string][]*dom.Element{}
	note := func(e *dom.Element) {
		if e.Kind == dom.Interactive {
			wanted[e.Text] = append(wanted[e.Text], e)
		}
	}
	for _, a := range d.Added {
		note(a.Element)
	}
	for _, one := range d.Changed {
		note(one.New)
	}
	if len(wanted) == 0 {
		return nil
	}
	for e := range elements.All() {
		alike := func(w *dom.Element) bool { return w.Ref != e.Ref && w.Role == e.Role }
		if e.Kind == dom.Interactive && slices.ContainsFunc(wanted[e.Text], alike) {
			return c.all()
		}
	}
	return nil
}

// Contexts says which one an element of a view is, of several with its role and name: nil without any such, and in DENSE,
// which has its own. It is empty when nothing tells them apart.
func Contexts(v *View) compact.Contexts { return v.contexts.all() }
