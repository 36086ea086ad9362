package turn

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

const (
	// maxReveals limits how many elements are hovered for one action. A menu may open a menu, which opens another.
	maxReveals = 3
	// revealLimit limits how long an element may take to appear while the pointer hovers over its trigger. revealRounds is the minimum
	// number of checks, however slow the machine is.
	revealLimit  = time.Second
	revealRounds = 10
)

// resolveShown resolves a step. If its element appears only while the pointer hovers over another element, it moves the pointer there
// first, and the action then finds the pointer there. If err is not nil, the step was already resolved at an element that is no longer
// visible.
func (t *run) resolveShown(ctx context.Context, a Step, start actor.State, at resolved, err error) (resolved, error) {
	if err == nil {
		at, err = t.resolve(ctx, a)
	}
	var over []*dom.Element
	for len(over) < maxReveals && t.mayShowOnHover(a, err) {
		next, wrong := t.toHover(ctx, a)
		if wrong != nil {
			return at, wrong
		}
		if next == nil || slices.ContainsFunc(over, func(el *dom.Element) bool { return el.Ref == next.Ref }) {
			break
		}
		hover := driver.Action{Kind: driver.Hover, Location: driver.At(next.Ref)}
		if _, wrong := t.dispatch(ctx, t.placed(hover), start); wrong != nil {
			return at, wrong
		}
		over = append(over, next)
		at, err = t.awaitShown(ctx, a, next, start)
	}
	at.over = over
	return at, err
}

// mayShowOnHover reports whether the error of a step may be caused by an element that appears only on hover.
func (t *resolver) mayShowOnHover(a Step, err error) bool {
	e, ok := errors.AsType[*apierr.Error](err)
	switch {
	case !ok || a.Kind == driver.Scroll:
		return false
	case e.Kind == apierr.NotActionable:
		return e.Detail["cause"] == "hidden"
	case e.Kind == apierr.Stale:
		return a.named() && e.Detail["cause"] == ""
	}
	return e.Kind == apierr.NoMatch
}

// toHover returns the element to hover first so that the element of a step appears. It returns nil if the element does not appear on hover.
func (t *resolver) toHover(ctx context.Context, a Step) (*dom.Element, error) {
	wanted := a.Target
	if wanted.By == target.None {
		wanted = target.Target{By: target.Ref, Ref: a.Ref}
	}
	wanted.OnHover = true
	finding, found, err := t.foundInPage(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if wanted.Within != "" && len(found) > 0 {
		refs, _ := finding.Restrict(t.around(wanted, found)).Closest()
		found, _ = t.present(refs)
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	contexts := elementcontext.Distinguish(t.elements(), found)
	return nil, &apierr.Error{
		Kind: apierr.Ambiguous,
		Message: wanted.String() + " appears while the pointer is over any of " + strconv.Itoa(len(found)) + " elements: " +
			target.ListWithin(found, contexts, maxCandidates) + "; hover one of them first, or name a text around it in within",
		Candidates: found[:min(len(found), maxCandidates)], Contexts: contexts,
	}
}

// around returns the elements to hover that fit the words that the target must be within: elements that have the words as their own text,
// because the target is beside or inside them, and elements that are within these words themselves.
func (t *resolver) around(wanted target.Target, found []*dom.Element) []*dom.Element {
	inside := t.inside(wanted, found)
	return slices.DeleteFunc(slices.Clone(found), func(el *dom.Element) bool {
		return target.Compare(el.WholeText(), wanted.Within) == target.Not && !slices.Contains(inside, el)
	})
}

// awaitShown resolves a step repeatedly until its element appears, or until another element has to be hovered.
func (t *run) awaitShown(ctx context.Context, a Step, over *dom.Element, start actor.State) (at resolved, err error) {
	end := time.Now().Add(revealLimit)
	for round := 1; ; round++ {
		if err := t.settle(ctx, start, over.Frame); err != nil {
			return at, err
		}
		at, err = t.resolve(ctx, a)
		if !t.mayShowOnHover(a, err) || round >= revealRounds && time.Now().After(end) {
			return at, err
		}
		next, wrong := t.toHover(ctx, a)
		if wrong != nil || next != nil && next.Ref != over.Ref {
			return at, err
		}
	}
}

// describeHovered describes which elements were hovered before a completed action. It is empty if there were none.
func describeHovered(over []*dom.Element) string {
	words := ""
	for i, el := range over {
		if i == 0 {
			words = ", with the pointer first over "
		} else {
			words += ", then "
		}
		words += target.Describe(el)
	}
	return words
}
