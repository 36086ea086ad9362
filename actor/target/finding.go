package target

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// Resolution is the result of resolving a target in the page (Target.InPage).
type Resolution struct {
	// Invalid reports that the browser rejects the selector. The other fields are then empty.
	Invalid bool
	// Matches are the visible matching elements, document by document.
	Matches []PageMatch
	// More reports that there are more matches than were returned.
	More bool
	// Hidden counts the matches that are not visible. HiddenWas describes the first of them, such as <input id=email>.
	Hidden    int
	HiddenWas string
	// Inert describes the inert element that the first of them is in, or is empty.
	Inert string
}

// PageMatch is an element that the page found.
type PageMatch struct {
	// Ref is dom.NoRef for an element that was not in the stored DOM. The next read adds it, and after that the page returns its ref.
	Ref dom.Ref
	Fit Fit
}

// Closest returns the unique refs of the best matches. unread reports that some of these have no ref yet.
func (f Resolution) Closest() (refs []dom.Ref, unread bool) {
	seen := map[dom.Ref]bool{}
	for _, m := range Best(f.Matches, func(m PageMatch) Fit { return m.Fit }) {
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

// Candidates returns the unique refs of the matches that a target may refer to: the best matches, or all matches if Within is set. unread
// reports that some of these have no ref yet.
func (f Resolution) Candidates(t Target) (refs []dom.Ref, unread bool) {
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

// Restrict returns the finding restricted to some elements.
func (f Resolution) Restrict(elements []*dom.Element) Resolution {
	is := make(map[dom.Ref]bool, len(elements))
	for _, el := range elements {
		is[el.Ref] = true
	}
	f.Matches = slices.DeleteFunc(slices.Clone(f.Matches), func(m PageMatch) bool { return !is[m.Ref] })
	return f
}

// Merge returns the combined findings of two documents.
func (f Resolution) Merge(o Resolution) Resolution {
	f.Invalid = f.Invalid || o.Invalid
	f.Matches = append(f.Matches[:len(f.Matches):len(f.Matches)], o.Matches...)
	f.More = f.More || o.More
	f.Hidden += o.Hidden
	if f.HiddenWas == "" {
		f.HiddenWas, f.Inert = o.HiddenWas, o.Inert
	}
	return f
}
