package tabview

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// minFolded is the minimum number of elements of a landmark to fold.
const minFolded = 3

// Print returns the view as text with a header, in the format of the request: TREE, DENSE, or else LINES.
func (v *View) Print(h compact.Header, settled view.View) string {
	switch {
	case v.Selection.tree:
		return compact.Tree(h, settled, v.outline)
	case v.Selection.dense:
		return compact.Dense(h, settled, v.lines)
	}
	return compact.Lines(h, settled)
}

// fold returns the snapshot to select from. With dedupe_navigation, it lacks the contents of landmarks that were sent with the caller's
// previous page.
func (v *View) fold() *dom.Snapshot {
	sel := v.Selection
	// A landmark that is not shown itself must not hide its elements. A caller that names a root wants to see the root's elements.
	if len(v.before) == 0 || sel.interactiveOnly || sel.hasRoot {
		return v.Snapshot
	}
	v.folded = compact.Folded{}
	for _, l := range view.NavigationHash(v.Snapshot.Elements.Slice()) {
		_, again := v.before[l.Hash]
		shown := (!sel.viewportOnly || l.Element.InViewport) && (sel.frame == "" || l.Element.Frame == sel.frame)
		if again && shown && len(l.Below) >= minFolded && !v.opened(l) {
			v.folded[l.Element.Ref] = len(l.Below)
		}
	}
	if len(v.folded) == 0 {
		return v.Snapshot
	}
	rest := *v.Snapshot
	rest.Elements = dom.ListOf(view.Fold(rest.Elements.Slice(), v.folded))
	return &rest
}

// price returns the function for the maximum cost of an element in the text of the view. The caller has exclusive use of the function until
// it calls done.
func (v *View) price(t *Tab) (cost func(*dom.Element) int, done func()) {
	base := compact.NewBase(v.Snapshot.URL)
	has, contexts := v.contexts.each()
	cache, special := &t.costs, compact.Cost(base, contexts, t.count)
	plain := func(base compact.Base) func(*dom.Element) int { return compact.Cost(base, nil, t.count) }
	if v.Selection.tree {
		cache, special = &t.branches, compact.TreeCost(base, v.folded, contexts, t.count)
		plain = func(base compact.Base) func(*dom.Element) int { return compact.TreeCost(base, nil, nil, t.count) }
	}
	each := cache.of(v.Snapshot, plain)
	if len(v.folded) == 0 && !v.contexts.any() {
		return each, cache.done
	}
	// The cached cost of an element does not apply if the element is folded or has a context.
	cost = func(e *dom.Element) int {
		_, folded := v.folded[e.Ref]
		if within := has(e); folded || within {
			return special(e)
		}
		return each(e)
	}
	return cost, cache.done
}

// grow computes the outline of a tree. It replaces the upper bound of the view's tokens by the actual cost of the lines.
func (v *View) grow(t *Tab) {
	if !v.Selection.tree {
		return
	}
	v.outline = compact.NewOutline(compact.NewBase(v.Snapshot.URL), v.view.Elements.Slice(), v.Snapshot.Elements.Slice(), v.folded).
		With(v.contexts.all())
	if v.view.Tokens > 0 {
		v.view.Tokens = v.overhead + v.outline.Cost(t.count)
	}
}

// opened reports whether an answer that the view continues showed a part of a landmark, so that the rest must follow.
func (v *View) opened(l view.Landmark) bool {
	if _, folded := slices.BinarySearch(v.wasFolded, l.Element.Ref); folded {
		return false
	}
	return v.wasSent(l.Element.Ref) || slices.ContainsFunc(l.Below, func(e *dom.Element) bool { return v.wasSent(e.Ref) })
}

// foldedWith returns the sorted refs of the landmarks that were folded up to and including this view.
func (v *View) foldedWith() []dom.Ref {
	out := slices.Concat(v.wasFolded, slices.Collect(maps.Keys(v.folded)))
	slices.Sort(out)
	return slices.Compact(out)
}

// sent returns the hashes of the landmarks that the view and the answers before it contain completely or folded.
func (v *View) sent() hashes {
	got := map[dom.Ref]struct{}{}
	for e := range v.view.Elements.All() {
		got[e.Ref] = struct{}{}
	}
	has := func(e *dom.Element) bool {
		_, now := got[e.Ref]
		return now || v.wasSent(e.Ref)
	}
	out := hashes{}
	for _, l := range view.NavigationHash(v.Snapshot.Elements.Slice()) {
		_, folded := v.folded[l.Element.Ref]
		if has(l.Element) && (folded || !slices.ContainsFunc(l.Below, func(e *dom.Element) bool { return !has(e) })) {
			out[l.Hash] = struct{}{}
		}
	}
	return out
}

// hashes is a set of hashes of a page's landmarks.
type hashes map[[sha256.Size]byte]struct{}

// maxHashes limits the hashes of one caller and page.
const maxHashes = 256

// landmarks holds the landmarks that a caller received with the last page that it read, and with the previous page.
type landmarks struct {
	// epoch and document identify the last page that was read, whose landmarks are in now. The landmarks of the previous page are in
	// before. Both maps are nil until the first read.
	epoch       string
	document    uint64
	now, before hashes
}

// isOld reports whether a snapshot belongs to an older page than the newest one that was read.
func (l *landmarks) isOld(s *dom.Snapshot) bool {
	return l.now != nil && l.epoch == s.Epoch && l.document > s.Document
}

// isCurrent reports whether a snapshot belongs to the last page that was read.
func (l *landmarks) isCurrent(s *dom.Snapshot) bool {
	return l.now != nil && l.epoch == s.Epoch && l.document == s.Document
}

// previous returns the hashes of the page that was read before the snapshot's page.
func (l *landmarks) previous(s *dom.Snapshot) hashes {
	switch {
	case l.isOld(s):
		return nil
	case l.isCurrent(s):
		return l.before
	}
	return l.now
}

// sent adds landmarks of a snapshot's page that the caller received. It does not modify earlier results.
func (l *landmarks) sent(s *dom.Snapshot, got hashes) {
	switch {
	case l.isOld(s):
		return
	case l.isCurrent(s):
		if all := maps.Clone(l.now); len(l.now)+len(got) <= maxHashes {
			maps.Copy(all, got)
			l.now = all
		}
	default:
		l.epoch, l.document = s.Epoch, s.Document
		l.before, l.now = l.now, got
	}
}

// Tree returns the view of a head for a caller, like At, but folds landmarks that the caller received with the previous page. All callers
// without a client ID count as one.
func (t *Tab) Tree(head *actor.Head, sel Selection, who Caller) (*View, error) {
	if !sel.dedupe {
		return t.At(head, head.Snapshot, sel)
	}
	before := t.last.landmarks(callerTab{who, t.tab.ID()}, func(l *landmarks) hashes { return l.previous(head.Snapshot) })
	return t.finish(head, &View{Snapshot: head.Snapshot, Selection: sel, before: before, err: errUnfinished})
}

// Sent records the landmarks that a caller received with a tree.
func (t *Tab) Sent(v *View, who Caller) {
	if !v.Selection.tree || v.Selection.interactiveOnly {
		return
	}
	got := v.sent()
	t.last.landmarks(callerTab{who, t.tab.ID()}, func(l *landmarks) hashes { l.sent(v.Snapshot, got); return nil })
}
