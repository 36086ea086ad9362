package turn

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// readAround reads structural elements if a target names its surroundings.
func (t *resolver) readAround(ctx context.Context, wanted target.Target) error {
	if wanted.Within == "" {
		return nil
	}
	return t.readStructure(ctx)
}

// inside returns the elements that are within the target's surroundings.
func (t *resolver) inside(wanted target.Target, found []*dom.Element) []*dom.Element {
	if wanted.Within == "" {
		return found
	}
	return elementcontext.Within(t.elements(), found, wanted.Within)
}

// namedInside returns an error if the element of a ref is not within the target's surroundings.
func (t *resolver) namedInside(wanted target.Target, at resolved) error {
	if wanted.Within == "" || at.el == nil || len(t.inside(wanted, []*dom.Element{at.el})) > 0 {
		return nil
	}
	return t.outside(wanted, []*dom.Element{at.el})
}

// outside returns the error for a target whose elements are all outside of its surroundings.
func (t *resolver) outside(wanted target.Target, found []*dom.Element) error {
	contexts := elementcontext.Distinguish(t.elements(), t.elements())
	return &apierr.Error{
		Kind: apierr.NoMatch,
		Message: "nothing on the page matches " + wanted.String() + "; elsewhere: " + target.ListWithin(found, contexts, maxCandidates) +
			": use one of these refs, or a text around the element in within",
		Candidates: found[:min(len(found), maxCandidates)], Contexts: contexts,
	}
}

// within reports whether an element is inside another.
func (t *resolver) within(el *dom.Element, outer dom.Ref) bool {
	h := t.x.Head()
	for up, steps := el, 0; up != nil && steps < h.Snapshot.Elements.Len(); steps++ {
		if up.Parent == outer {
			return true
		}
		up = h.Snapshot.Find(up.Parent)
	}
	return false
}

func (t *resolver) elements() []*dom.Element { return t.x.Head().Snapshot.Elements.Slice() }

// inWords describes the target's surroundings. It is empty if there are none.
func inWords(wanted target.Target) string {
	if wanted.Within == "" {
		return ""
	}
	return " within " + target.Quote(wanted.Within)
}
