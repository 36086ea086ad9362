package diff

import (
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

// apply applies a diff to its older list, as a client does, and checks the indexes and refs.
func apply(t testing.TB, old []*dom.Element, d Diff) []*dom.Element {
	t.Helper()
	rest := slices.Clone(old)
	at := func(i int, ref dom.Ref) {
		if i < 0 || i >= len(rest) || rest[i] == nil || rest[i].Ref != ref {
			t.Fatalf("ref %d is not at %d, in %s", ref, i, describe(d))
		}
	}
	for _, c := range d.Changed {
		at(c.Index, c.Old.Ref)
		at(c.Index, c.New.Ref)
		rest[c.Index] = c.New
	}
	made := make([]*dom.Element, len(old)-len(d.Removed)+len(d.Added))
	put := func(i int, e *dom.Element) {
		if i < 0 || i >= len(made) || made[i] != nil {
			t.Fatalf("index %d of ref %d is taken or out of range, in %s", i, e.Ref, describe(d))
		}
		made[i] = e
	}
	for _, r := range d.Removed {
		at(r.Index, r.Element.Ref)
		rest[r.Index] = nil
	}
	for _, m := range d.Moved {
		at(m.From, m.Element.Ref)
		put(m.To, rest[m.From])
		rest[m.From] = nil
	}
	for _, a := range d.Added {
		put(a.Index, a.Element)
	}
	rest = slices.DeleteFunc(rest, func(e *dom.Element) bool { return e == nil })
	for i, e := range made {
		if e == nil {
			made[i], rest = rest[0], rest[1:]
		}
	}
	return made
}
