package tabview

import (
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

// pageCost caches the token count of the last requested snapshot. The count of the next snapshot is derived from the changes.
type pageCost struct {
	mu       sync.Mutex
	snapshot *dom.Snapshot
	base     compact.Base
	lines    int
}

// Whole estimates the tokens of all elements of a snapshot in LINES, without filters and limits. It returns 0 for a snapshot without
// elements, because the page may not have been read yet. After the first call, the cost is proportional to the changes.
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

// follow updates the count from the previous snapshot to the next.
func (w *pageCost) follow(s *dom.Snapshot) {
	base, before := compact.NewBase(s.URL), dom.List{}
	if w.snapshot != nil && w.snapshot.Document == s.Document && w.base == base {
		before = w.snapshot.Elements
	} else {
		w.lines = 0
	}
	cost := compact.Cost(base, nil, tokens.Estimate)
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

// Seen records that an answer shows a snapshot. It reports whether the previous answer showed the same one.
func (t *Tab) Seen(s *dom.Snapshot) bool { return t.seen.Swap(s) == s }

// MarkSent records that an answer contains the view. It reports whether an earlier answer did.
func (v *View) MarkSent() bool { return v.answers.Swap(true) }

// Folded returns how many landmarks the view folds to one line each, and how many elements those contain.
func (v *View) Folded() (landmarks, elements int) {
	for _, n := range v.folded {
		elements += n
	}
	return len(v.folded), elements
}
