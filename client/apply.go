package client

import (
	"errors"
	"fmt"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// ErrMismatch reports that a diff does not fit the elements because a message was lost. Start the watch again without from_revision. Follow
// does that automatically.
var ErrMismatch = errors.New("the diff does not fit the elements")

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMismatch, fmt.Sprintf(format, args...))
}

// Apply applies a diff to the elements of a view, as described in docs/stream.md, and returns the new list. It modifies neither the list
// nor the elements; the result shares the unchanged elements. The error wraps ErrMismatch.
//
// The index field of an element comes from the message that contained the element. Only the position in the list is current.
func Apply(old []*domtapv1.Element, d *domtapv1.Diff) ([]*domtapv1.Element, error) {
	out, place := map[uint32]bool{}, map[int]*domtapv1.Element{}
	for _, r := range d.GetRemoved() {
		out[r.GetRef()] = true
	}
	for _, m := range d.GetMoved() {
		out[m.GetRef()] = true
	}
	if len(out) != len(d.GetRemoved())+len(d.GetMoved()) {
		return nil, mismatch("an element is removed twice")
	}
	known := named(old, d, out)
	for _, c := range d.GetChanged() {
		if known[c.GetRef()] == nil {
			return nil, mismatch("element %d is changed but missing", c.GetRef())
		}
		known[c.GetRef()] = c.GetElement()
	}
	for ref := range out {
		if known[ref] == nil {
			return nil, mismatch("element %d is removed but missing", ref)
		}
	}
	for _, m := range d.GetMoved() {
		place[int(m.GetToIndex())] = known[m.GetRef()]
	}
	added := map[uint32]bool{}
	for _, a := range d.GetAdded() {
		place[int(a.GetIndex())] = a
		added[a.GetRef()] = true
	}
	if len(place) != len(d.GetMoved())+len(d.GetAdded()) {
		return nil, mismatch("two elements have the same position")
	}
	stay := make([]*domtapv1.Element, 0, len(old))
	for _, e := range old {
		if out[e.GetRef()] {
			continue
		}
		if added[e.GetRef()] {
			return nil, mismatch("element %d is added but exists", e.GetRef())
		}
		if now, ok := known[e.GetRef()]; ok {
			e = now
		}
		stay = append(stay, e)
	}
	return mergeByIndex(stay, place)
}

// named returns the elements of old that a diff removes or changes, by their refs.
func named(old []*domtapv1.Element, d *domtapv1.Diff, out map[uint32]bool) map[uint32]*domtapv1.Element {
	changed := map[uint32]bool{}
	for _, c := range d.GetChanged() {
		changed[c.GetRef()] = true
	}
	found := map[uint32]*domtapv1.Element{}
	for _, e := range old {
		if ref := e.GetRef(); changed[ref] || out[ref] {
			found[ref] = e
		}
	}
	return found
}

// mergeByIndex puts the elements of place at their positions and fills the other positions with the remaining elements.
func mergeByIndex(stay []*domtapv1.Element, place map[int]*domtapv1.Element) ([]*domtapv1.Element, error) {
	now := make([]*domtapv1.Element, len(stay)+len(place))
	for i := range now {
		switch e := place[i]; {
		case e != nil:
			now[i] = e
		case len(stay) > 0:
			now[i], stay = stay[0], stay[1:]
		default:
			return nil, mismatch("no element for position %d", i)
		}
	}
	return now, nil
}
