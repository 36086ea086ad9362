package views

import (
	"crypto/sha256"
	"sync"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// minFolded is how many elements a landmark must hold for one line to say less than they do.
const minFolded = 3

// Print returns the view as text under a header of its own (Header): as TREE where the request asked for
// that format, else as LINES.
func (v *View) Print(h compact.Header, settled view.View) string {
	if v.Selection.tree {
		return compact.Tree(h, settled, v.outline)
	}
	return compact.Lines(h, settled)
}

// fold returns what to select from: the snapshot, without the navigation that the tab's previous page had
// too when that was asked for.
func (v *View) fold(t *Tab) *dom.Snapshot {
	sel := v.Selection
	if !sel.tree {
		return v.Snapshot
	}
	now, before := t.landmarks.of(v.Snapshot)
	// A landmark that is not shown itself must not take what is in it along. Who names a root wants to see
	// what stands there.
	if !sel.dedupe || sel.interactiveOnly || sel.hasRoot {
		return v.Snapshot
	}
	v.folded = compact.Folded{}
	for _, l := range now {
		_, again := before[l.Hash]
		shown := (!sel.viewportOnly || l.Element.InViewport) && (sel.frame == "" || l.Element.Frame == sel.frame)
		if again && shown && l.Descendants >= minFolded {
			v.folded[l.Element.Ref] = l.Descendants
		}
	}
	if len(v.folded) == 0 {
		return v.Snapshot
	}
	rest := *v.Snapshot
	rest.Elements = view.Fold(rest.Elements, v.folded)
	return &rest
}

// price returns what an element costs at most in the text of the view. The function is the caller's alone
// until it calls done.
func (v *View) price(t *Tab) (cost func(*dom.Element) int, done func()) {
	if !v.Selection.tree {
		cost = t.costs.of(v.Snapshot, func(base compact.Base) func(*dom.Element) int {
			return compact.Cost(base, t.count)
		})
		return cost, t.costs.done
	}
	each := t.branches.of(v.Snapshot, func(base compact.Base) func(*dom.Element) int {
		return compact.TreeCost(base, nil, t.count)
	})
	if len(v.folded) == 0 {
		return each, t.branches.done
	}
	// What is remembered for an element is not what it costs folded.
	folded := compact.TreeCost(compact.NewBase(v.Snapshot.URL), v.folded, t.count)
	cost = func(e *dom.Element) int {
		if _, ok := v.folded[e.Ref]; ok {
			return folded(e)
		}
		return each(e)
	}
	return cost, t.branches.done
}

// grow gives a tree its shape and replaces the bound in its tokens by what the lines cost.
func (v *View) grow(t *Tab) {
	if !v.Selection.tree || v.err != nil {
		return
	}
	v.outline = compact.NewOutline(compact.NewBase(v.Snapshot.URL), v.view.Elements, v.Snapshot.Elements, v.folded)
	if v.view.Tokens > 0 {
		v.view.Tokens = v.overhead + v.outline.Cost(t.count)
	}
}

// hashes are those of a page's landmarks.
type hashes map[[sha256.Size]byte]struct{}

// landmarks remembers the landmarks of the page that a tab shows and of the one before, as far as they
// were read as trees. It holds no elements, and no more hashes than view.NavigationHash finds.
type landmarks struct {
	mu sync.Mutex
	// now is of that revision of that document; both are nil before the first.
	epoch              string
	document, revision uint64
	now, before        hashes
}

// of returns the landmarks of a snapshot and the hashes of those of the page before it. It remembers them
// unless something newer was read already.
func (l *landmarks) of(s *dom.Snapshot) (now []view.Landmark, before hashes) {
	now = view.NavigationHash(s.Elements)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.now == nil:
	case l.epoch == s.Epoch && l.document > s.Document:
		return now, nil
	case l.epoch != s.Epoch || l.document < s.Document:
		l.before = l.now
	case l.revision > s.Revision:
		return now, l.before
	}
	l.epoch, l.document, l.revision = s.Epoch, s.Document, s.Revision
	l.now = make(hashes, len(now))
	for _, landmark := range now {
		l.now[landmark.Hash] = struct{}{}
	}
	return now, l.before
}
