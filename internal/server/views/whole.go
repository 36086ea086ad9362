package views

import (
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

// whole knows what the last snapshot that was asked for costs as a whole, so that the next is priced by what changed.
type whole struct {
	mu       sync.Mutex
	snapshot *dom.Snapshot
	base     compact.Base
	lines    int
}

// Whole returns about how many tokens LINES of all elements of a snapshot are, filters and limits aside. It is 0 for one
// without elements, of which that says nothing: the page may not have been read yet. After the first call it costs as much
// as what changed since.
func (t *Tab) Whole(s *dom.Snapshot) int {
	if s.Elements.Len() == 0 {
		return 0
	}
	w := &t.whole
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.snapshot != s {
		w.follow(s)
	}
	return w.lines + tokens.Estimate(compact.Lines(compact.Header{URL: s.URL, Title: s.Title}, view.View{}))
}

// follow goes from the snapshot before to the next.
func (w *whole) follow(s *dom.Snapshot) {
	base, before := compact.NewBase(s.URL), dom.List{}
	if w.snapshot != nil && w.snapshot.Document == s.Document && w.base == base {
		before = w.snapshot.Elements
	} else {
		w.lines = 0
	}
	cost := compact.Cost(base, tokens.Estimate)
	for _, gap := range dom.Gaps(before, s.Elements) {
		for _, e := range gap.Old {
			w.lines -= cost(e)
		}
		for _, e := range gap.Now {
			w.lines += cost(e)
		}
	}
	w.snapshot, w.base = s, base
}

// Seen notes that an answer shows a snapshot, and reports whether the answer before it showed the same one.
func (t *Tab) Seen(s *dom.Snapshot) bool { return t.seen.Swap(s) == s }

// Given notes that an answer gives the view, and reports whether one did before.
func (v *View) Given() bool { return v.answers.Swap(true) }

// Folded returns how many landmarks the view folds to a line each, and how many elements stand in them.
func (v *View) Folded() (landmarks, elements int) {
	for _, n := range v.folded {
		elements += n
	}
	return len(v.folded), elements
}
