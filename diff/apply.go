package diff

import (
	"errors"
	"fmt"
	"slices"

	"github.com/domtap/domtap/dom"
)

// ErrMismatch reports that a diff does not fit the list that it was applied to, or contradicts itself. After this error, request a whole
// snapshot.
var ErrMismatch = errors.New("diff does not fit the list, take a new snapshot")

// Apply applies d to old. It removes the removed and the moved elements, replaces the changed ones, and inserts the added and the moved
// ones at their index in the result, in ascending order. It does not modify old, and returns old itself if d is empty.
//
// Apply does not trust d. It returns an error that wraps ErrMismatch if an element is missing, an index is out of range or taken, an
// element is removed, moved or changed twice, or the result would have a ref twice.
func Apply(old []*dom.Element, d Diff) ([]*dom.Element, error) {
	if d.Empty() {
		return old, nil
	}
	p := patch{old: old, marks: make([]mark, len(old))}
	if err := p.markTaken(d); err != nil {
		return nil, err
	}
	if err := p.replace(d.Changed); err != nil {
		return nil, err
	}
	if len(d.Added)+len(d.Removed)+len(d.Moved) == 0 {
		return p.list, nil
	}
	return p.build(d)
}

// mark records what a diff does to an element of the older list.
type mark uint8

const (
	removed mark = 1 << iota
	moved
	changed
)

// patch is the state of one Apply.
type patch struct {
	old   []*dom.Element
	list  []*dom.Element // old with the changed elements replaced; old itself if there are none
	marks []mark         // parallel to old
	from  []int          // the indexes of the moved elements in old, parallel to Diff.Moved
	refs  map[dom.Ref]int
}

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMismatch, fmt.Sprintf(format, args...))
}

// find returns the index in old of an element that the diff locates at index.
func (p *patch) find(verb string, index int, e *dom.Element) (int, error) {
	if e == nil {
		return 0, mismatch("an element to be %s is missing", verb)
	}
	if index == Unknown {
		i, ok := p.lookUp(e.Ref)
		if !ok {
			return 0, mismatch("element %d to be %s is not in the list", e.Ref, verb)
		}
		return i, nil
	}
	if index < 0 || index >= len(p.old) {
		return 0, mismatch("element %d to be %s at %d: the list has %d elements", e.Ref, verb, index, len(p.old))
	}
	if at := p.old[index]; at == nil || at.Ref != e.Ref {
		return 0, mismatch("element %d to be %s is not at %d", e.Ref, verb, index)
	}
	return index, nil
}

func (p *patch) lookUp(ref dom.Ref) (int, bool) {
	if p.refs == nil {
		p.refs = make(map[dom.Ref]int, len(p.old))
		for i, e := range p.old {
			if e != nil {
				p.refs[e.Ref] = i
			}
		}
	}
	i, ok := p.refs[ref]
	return i, ok
}

// markTaken marks the removed and the moved elements.
func (p *patch) markTaken(d Diff) error {
	for _, r := range d.Removed {
		i, err := p.find("removed", r.Index, r.Element)
		if err != nil {
			return err
		}
		if p.marks[i] != 0 {
			return mismatch("element %d is removed twice", r.Element.Ref)
		}
		p.marks[i] = removed
	}
	p.from = make([]int, len(d.Moved))
	for k, m := range d.Moved {
		i, err := p.find("moved", m.From, m.Element)
		if err != nil {
			return err
		}
		if p.marks[i] != 0 {
			return mismatch("element %d is moved and also removed or moved before", m.Element.Ref)
		}
		p.marks[i], p.from[k] = moved, i
	}
	return nil
}

// replace creates the list with the changed elements replaced.
func (p *patch) replace(changes []Changed) error {
	p.list = p.old
	if len(changes) > 0 {
		p.list = slices.Clone(p.old)
	}
	for _, c := range changes {
		i, err := p.find("changed", c.Index, c.New)
		if err != nil {
			return err
		}
		if p.marks[i]&(removed|changed) != 0 {
			return mismatch("element %d is changed and also removed or changed before", c.New.Ref)
		}
		p.marks[i] |= changed
		p.list[i] = c.New
	}
	return nil
}

// build places the added and the moved elements and fills the rest with the other elements.
func (p *patch) build(d Diff) ([]*dom.Element, error) {
	out := make([]*dom.Element, len(p.old)-len(d.Removed)+len(d.Added))
	fresh, err := indexAdded(d.Added)
	if err != nil {
		return nil, err
	}
	for _, a := range d.Added {
		if err := put(out, a.Index, a.Element); err != nil {
			return nil, err
		}
	}
	for k, m := range d.Moved {
		if err := put(out, m.To, p.list[p.from[k]]); err != nil {
			return nil, err
		}
	}
	next := 0
	for i, e := range p.list {
		if p.marks[i]&removed != 0 {
			continue
		}
		if e == nil {
			return nil, mismatch("the list has no element at %d", i)
		}
		if _, twice := fresh.find(e.Ref); twice {
			return nil, mismatch("added element %d is in the list already", e.Ref)
		}
		if p.marks[i]&moved != 0 {
			continue
		}
		for out[next] != nil {
			next++
		}
		out[next] = e
	}
	return out, nil
}

// indexAdded indexes the added elements. Their refs must be unique.
func indexAdded(added []Added) (refIndex, error) {
	list := make([]*dom.Element, len(added))
	for k, a := range added {
		if a.Element == nil {
			return refIndex{}, mismatch("an element to be added is missing")
		}
		list[k] = a.Element
	}
	index := indexByRef(list)
	for k, e := range list {
		if first, _ := index.find(e.Ref); first != k {
			return refIndex{}, mismatch("element %d is added twice", e.Ref)
		}
	}
	return index, nil
}

func put(out []*dom.Element, index int, e *dom.Element) error {
	if index < 0 || index >= len(out) {
		return mismatch("element %d goes to %d: the result has %d elements", e.Ref, index, len(out))
	}
	if out[index] != nil {
		return mismatch("elements %d and %d both go to %d", out[index].Ref, e.Ref, index)
	}
	out[index] = e
	return nil
}
