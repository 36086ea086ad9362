// Package diff computes the difference between two lists of elements, and applies a difference to a list.
//
// The package is pure: no goroutine, no clock, no shared state; every function may be called from any
// goroutine. It guarantees
//
//	Apply(old, Compute(old, now))  equals  now
//	Apply(Apply(x, a), b)          equals  Apply(x, Compose(a, b))
//
// where two lists are equal when their elements are pairwise the Same (see dom.Element): a client would
// see no difference. Sameness ignores whether an element is in the viewport, so the result may hold older
// values that differ in InViewport alone.
//
// Elements are shared: diffs and lists hold the pointers that they were given, and nobody writes to the
// elements. Callers owe lists without nil and without duplicate refs, as snapshots and views are. Diffs
// may come over a network, so Apply checks them.
package diff

import "github.com/domtap/domtap/dom"

// Unknown is the index of an element that the diff names by its ref alone, as diffs that came over
// the network do. Apply then looks the element up; Compose needs real indexes.
const Unknown = -1

// Diff leads from one list of elements to another. Nodes are matched by their ref. The zero value
// changes nothing.
type Diff struct {
	// From and To are the revisions that the diff leads between. The caller sets and checks them;
	// Compute leaves them 0 and Apply ignores them.
	From, To uint64
	// Added holds the elements that only the newer list has, by ascending index.
	Added []Added
	// Removed holds the elements that only the older list has, by ascending index. A node whose key
	// changed is removed and added under the same ref.
	Removed []Removed
	// Changed holds the nodes that keep their key and have other fields changed, in the order of the
	// newer list.
	Changed []Changed
	// Moved holds the nodes that changed their place among the nodes in both lists, by ascending place
	// in the newer list. A node that moved and changed is in both lists.
	Moved []Moved
}

// Added is an element that appeared.
type Added struct {
	// Index is its place in the newer list.
	Index   int
	Element *dom.Element
}

// Removed is an element that is gone.
type Removed struct {
	// Index is its place in the older list, or Unknown.
	Index int
	// Element is what it was. Apply needs only its ref.
	Element *dom.Element
}

// Changed is an element before and after.
type Changed struct {
	// Index is its place in the older list, or Unknown; To its place in the newer one, which Apply does not
	// look at.
	Index, To int
	// Old is what it was. It may be nil in a diff that came over the network.
	Old *dom.Element
	// New is what it is now, under the same ref.
	New *dom.Element
}

// Moved is an element that changed its place.
type Moved struct {
	// From is its place in the older list, or Unknown; To its place in the newer one.
	From, To int
	// Element is what it is now. Apply needs only its ref; new field values come from Changed.
	Element *dom.Element
}

// Empty reports whether the diff changes nothing.
func (d Diff) Empty() bool {
	return len(d.Added) == 0 && len(d.Removed) == 0 && len(d.Changed) == 0 && len(d.Moved) == 0
}
