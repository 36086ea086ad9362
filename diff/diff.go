// Package diff computes the difference between two lists of elements.
//
// The package is pure: it has no goroutines, no clock and no shared state, and every function is safe for concurrent use. It guarantees
// that a diff turns the first list into the second: replace the Changed elements, delete the Removed and Moved ones, then insert the Added
// and Moved ones at their indexes.
//
// Two lists are equal if their elements are pairwise the Same (see dom.Element): a client would see no difference. Sameness ignores
// whether an element is in the viewport, so the result may contain older values that differ only in InViewport.
//
// Callers must pass lists without nil and without duplicate refs, as in snapshots and views. Diffs contain the
// elements of the lists themselves, so callers must not modify them.
package diff

import "github.com/domtap/domtap/dom"

// Diff describes the changes from one list of elements to another. Nodes are matched by their ref. The zero value changes nothing.
type Diff struct {
	// From and To are the revisions of the two lists. The caller sets and checks them; Compute leaves them 0.
	From, To uint64
	// Added holds the elements that are only in the newer list, by ascending index.
	Added []Added
	// Removed holds the elements that are only in the older list, by ascending index. A node whose key changed is removed and added under
	// the same ref.
	Removed []Removed
	// Changed holds the nodes with the same key and other changed fields, in the order of the newer list.
	Changed []Changed
	// Moved holds the nodes that changed their position among the nodes in both lists, by ascending index in the newer list. A node that
	// moved and changed is also in Changed.
	Moved []Moved
}

// Added is an added element.
type Added struct {
	// Index is its index in the newer list.
	Index   int
	Element *dom.Element
}

// Removed is a removed element.
type Removed struct {
	// Index is its index in the older list.
	Index int
	// Element is its last state.
	Element *dom.Element
}

// Changed is an element before and after.
type Changed struct {
	// Index is its index in the older list. To is its index in the newer list.
	Index, To int
	// Old is its old state.
	Old *dom.Element
	// New is its new state, with the same ref.
	New *dom.Element
}

// Moved is an element that changed its position.
type Moved struct {
	// From is its index in the older list. To is its index in the newer list.
	From, To int
	// Element is its new state.
	Element *dom.Element
}

// Empty reports whether the diff changes nothing.
func (d Diff) Empty() bool {
	return len(d.Added) == 0 && len(d.Removed) == 0 && len(d.Changed) == 0 && len(d.Moved) == 0
}
