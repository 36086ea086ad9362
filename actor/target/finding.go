package target

import "github.com/domtap/domtap/dom"

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
