package target

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// Finding is what the page found of a target that only it can tell (Target.InPage).
type Finding struct {
	// Invalid says that the browser does not take the selector; the rest is empty.
	Invalid bool
	// Matches are the elements that can be seen, document by document.
	Matches []Found
	// More says that there are more than were named.
	More bool
	// Hidden counts those that cannot be seen; HiddenWas describes the first of them, such as <input id=email>.
	Hidden    int
	HiddenWas string
}

// Found is one element that the page found.
type Found struct {
	// Ref is dom.NoRef for an element that was not part of the stored DOM. It becomes one with the next read, and
	// has a ref when the page is asked again after that.
	Ref dom.Ref
	Fit Fit
}

// Closest returns the refs of the matches that fit closest, each once. Unread says that some of these have none
// yet.
func (f Finding) Closest() (refs []dom.Ref, unread bool) {
	seen := map[dom.Ref]bool{}
	for _, m := range Best(f.Matches, func(m Found) Fit { return m.Fit }) {
		switch {
		case m.Ref == dom.NoRef:
			unread = true
		case !seen[m.Ref]:
			seen[m.Ref] = true
			refs = append(refs, m.Ref)
		}
	}
	return refs, unread
}

// Meant returns the refs of the matches that a target may mean: those that fit closest, each once, and with Within all of
// them. Unread says that some of these have none yet.
func (f Finding) Meant(t Target) (refs []dom.Ref, unread bool) {
	if t.Within == "" {
		return f.Closest()
	}
	for _, m := range f.Matches {
		if unread = unread || m.Ref == dom.NoRef; m.Ref != dom.NoRef {
			refs = append(refs, m.Ref)
		}
	}
	return refs, unread
}

// Only returns what was found of some elements.
func (f Finding) Only(elements []*dom.Element) Finding {
	is := make(map[dom.Ref]bool, len(elements))
	for _, el := range elements {
		is[el.Ref] = true
	}
	f.Matches = slices.DeleteFunc(slices.Clone(f.Matches), func(m Found) bool { return !is[m.Ref] })
	return f
}

// With returns what was found in two documents together.
func (f Finding) With(o Finding) Finding {
	f.Invalid = f.Invalid || o.Invalid
	f.Matches = append(f.Matches[:len(f.Matches):len(f.Matches)], o.Matches...)
	f.More = f.More || o.More
	f.Hidden += o.Hidden
	if f.HiddenWas == "" {
		f.HiddenWas = o.HiddenWas
	}
	return f
}
