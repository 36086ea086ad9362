// Package notices keeps what a person would notice on a tab's page: alerts, dialogs that open and close, fields that become invalid,
// headings and the like, as its documents report them.
//
// A List is immutable, so that heads share it: With makes the next one. Every change has a number, and Last is that of the newest.
// Who remembers Last asks later for what came since. A List is bounded: of a page that reports without end the newest notices stay.
package notices

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// maxEntries is how many notices are kept.
const maxEntries = 64

// List is what was noticed, in order. The nil List is empty.
type List struct {
	entries []entry
	last    uint64
}

// entry is a notice of a document.
type entry struct {
	dom.Notice
	document string
	// first is the number of the change that brought it, last that of the newest change of it.
	first, last uint64
}

// With returns the list with the notices of a document. One with the ID of an earlier one replaces it, in its place.
func (l *List) With(document string, reported []dom.Notice) *List {
	next := &List{}
	if l != nil {
		next.entries, next.last = slices.Clone(l.entries), l.last
	}
	for _, n := range reported {
		next.last++
		at := slices.IndexFunc(next.entries, func(e entry) bool { return e.document == document && e.ID == n.ID })
		if at >= 0 {
			next.entries[at].Notice, next.entries[at].last = n, next.last
			continue
		}
		next.entries = append(next.entries, entry{Notice: n, document: document, first: next.last, last: next.last})
	}
	next.entries = slices.Delete(next.entries, 0, max(0, len(next.entries)-maxEntries))
	return next
}

// Last is the number of the newest change; 0: there was none.
func (l *List) Last() uint64 {
	if l == nil {
		return 0
	}
	return l.last
}

// Since returns what was noticed first after a change, in the order in which it was. Work that is over is left out.
func (l *List) Since(change uint64) []dom.Notice {
	if l == nil {
		return nil
	}
	var out []dom.Notice
	for _, e := range l.entries {
		if e.first > change && !(e.Kind == dom.NoticeBusy && e.Gone) {
			out = append(out, e.Notice)
		}
	}
	return out
}

// Changed returns what was noticed or changed after a change, in the order of the changes.
func (l *List) Changed(change uint64) []dom.Notice {
	var out []dom.Notice
	for _, e := range l.changed(change) {
		out = append(out, e.Notice)
	}
	return out
}

// Reported is a notice with the document that reported it.
type Reported struct {
	dom.Notice
	Document string
}

// Reported is Changed with the documents, so that With makes an equal list elsewhere.
func (l *List) Reported(change uint64) []Reported {
	var out []Reported
	for _, e := range l.changed(change) {
		out = append(out, Reported{e.Notice, e.document})
	}
	return out
}

// changed returns the entries that came or changed after a change, in the order of the changes.
func (l *List) changed(change uint64) []entry {
	if l == nil || l.last <= change {
		return nil
	}
	var changed []entry
	for _, e := range l.entries {
		if e.last > change {
			changed = append(changed, e)
		}
	}
	slices.SortFunc(changed, func(a, b entry) int { return int(a.last) - int(b.last) })
	return changed
}
