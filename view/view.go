// Package view makes the view of one caller of a snapshot: it filters and ranks elements, and limits the
// selection to a number of elements and to a budget of tokens.
//
// A view never changes what is stored. Of is pure: it reads a snapshot and options and writes to
// neither, so callers with different options do not disturb each other, and the same arguments always
// give the same view. After makes the same views incrementally: its cost follows what has changed since
// the view before. The guarantees, all of them tested:
//
//   - the elements are a subsequence of the snapshot's, in document order;
//   - there are never more than MaxElements, and they never cost more than MaxTokens with Overhead;
//   - no element is left out by a limit while one that ranks lower is kept;
//   - views that continue each other (Given) show every selected element once.
//
// Callers owe a snapshot in document order, in which parents stand before their children.
package view

import (
	"errors"
	"fmt"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// Options says what a caller wants to see. The zero value shows everything but attributes.
type Options struct {
	// InteractiveOnly leaves out structural elements and frame hosts.
	InteractiveOnly bool
	// ViewportOnly leaves out elements that were outside the viewport when the boxes were last read.
	ViewportOnly bool

	// HasRoot limits the view to the element Root and its descendants. The other filters apply to the
	// root as well.
	HasRoot bool
	Root    dom.Ref
	// HasFrame limits the view to the elements of Frame itself, without those of the frames in it.
	// The main frame is the empty string, as in dom.Element.
	HasFrame bool
	Frame    dom.FrameID

	// Given reports whether an element was shown before, in an answer that this view continues. Such
	// elements count in View.Total and are left out before the limits. Of calls Given at most once for
	// each selected element. Nil: nothing was shown before.
	Given func(dom.Ref) bool

	// MaxElements limits the number of elements; 0 or less: no limit.
	MaxElements int
	// MaxTokens limits the cost of the view's text; 0 or less: no limit.
	MaxTokens int
	// Overhead is what the text costs before its first element. It counts only with MaxTokens.
	Overhead int
	// Cost is what the text of one element costs, its line end included. Of calls Cost at most once for
	// each element and never for elements that rank below the limits. Required with MaxTokens.
	Cost func(*dom.Element) int

	// Attributes names the HTML attributes to show. Stored elements may have more, since callers share
	// them; such an element is copied without the others.
	Attributes []string
}

// Reason says which limit cut a view.
type Reason uint8

// The reasons.
const (
	// NotTruncated: the view holds everything that was selected and not shown before.
	NotTruncated Reason = iota
	// ElementLimit: MaxElements cut it.
	ElementLimit
	// TokenBudget: MaxTokens cut it, perhaps after MaxElements had.
	TokenBudget
)

// String returns "", "element limit" or "token budget".
func (r Reason) String() string {
	switch r {
	case ElementLimit:
		return "element limit"
	case TokenBudget:
		return "token budget"
	}
	return ""
}

// View is the part of a snapshot that a caller sees. It is immutable, like the snapshot.
type View struct {
	// Elements stand in document order. The list may be the snapshot's own.
	Elements dom.List
	// Total is how many elements were selected before the limits, with those shown before.
	Total int
	// Reason says which limit left elements out.
	Reason Reason
	// Tokens is Overhead plus the cost of Elements when a budget was set, else 0. It is at most the
	// budget, but for a budget that Overhead alone exceeds: then there are no elements.
	Tokens int
	// Contexts says which one an element is, of several with its role and name. Of leaves it empty; who prints the view
	// may set it, and owes a Cost that counts the contexts.
	Contexts map[dom.Ref]elementcontext.Context
	// OmittedByRole counts what the limits left out, by role; elements without one count as "generic".
	// It is nil when nothing was left out.
	OmittedByRole map[string]int
}

// ErrNoRoot says that the root of a view is not in the snapshot.
type ErrNoRoot struct{ Ref dom.Ref }

// Error says what to do.
func (e ErrNoRoot) Error() string {
	return fmt.Sprintf("ref %d is gone from the page: take a new snapshot without a root, and use one of its refs", e.Ref)
}

// errNoCost is a mistake of the caller, not of the client.
var errNoCost = errors.New("view: MaxTokens is set without Cost")

// Of returns the view of a snapshot. It fails with ErrNoRoot when the root is not there.
func Of(s *dom.Snapshot, o Options) (View, error) {
	if o.MaxTokens > 0 && o.Cost == nil {
		return View{}, errNoCost
	}
	all := s.Elements.Slice()
	selected, err := o.choose(all)
	if err != nil {
		return View{}, err
	}
	v := View{Total: len(selected)}
	shown := o.project(o.limit(&v, o.rest(selected)))
	if v.Elements = s.Elements; len(shown) != len(all) || len(all) > 0 && &shown[0] != &all[0] {
		v.Elements = dom.ListOf(shown)
	}
	return v, nil
}

// choose returns the elements that pass the filter: the list itself when all do.
func (o Options) choose(all []*dom.Element) ([]*dom.Element, error) {
	if !o.InteractiveOnly && !o.ViewportOnly && !o.HasRoot && !o.HasFrame {
		return all, nil
	}
	filter := filter{options: o}
	for i, e := range all {
		if filter.passes(e) {
			continue
		}
		out := make([]*dom.Element, i, len(all)-1)
		copy(out, all)
		for _, e := range all[i+1:] {
			if filter.passes(e) {
				out = append(out, e)
			}
		}
		all = out
		break
	}
	if o.HasRoot && filter.below == nil {
		return nil, ErrNoRoot{Ref: o.Root}
	}
	return all, nil
}

// rest returns the selected elements that were not shown before: the list itself when none was.
func (o Options) rest(selected []*dom.Element) []*dom.Element {
	if o.Given == nil {
		return selected
	}
	out := make([]*dom.Element, 0, len(selected))
	for _, e := range selected {
		if !o.Given(e.Ref) {
			out = append(out, e)
		}
	}
	if len(out) == len(selected) {
		return selected
	}
	return out
}

// filter decides which elements are selected. It must see all elements, in document order.
type filter struct {
	options Options
	// below holds the refs of the root and its descendants, once the root was seen.
	below map[dom.Ref]struct{}
}

func (s *filter) passes(e *dom.Element) bool {
	o := &s.options
	if o.HasRoot && !s.isBelow(e) {
		return false
	}
	return (!o.InteractiveOnly || e.Kind == dom.Interactive) &&
		(!o.ViewportOnly || e.InViewport) &&
		(!o.HasFrame || e.Frame == o.Frame)
}

func (s *filter) isBelow(e *dom.Element) bool {
	if s.below == nil {
		if e.Ref != s.options.Root {
			return false
		}
		s.below = map[dom.Ref]struct{}{}
	} else if _, ok := s.below[e.Parent]; !ok {
		return false
	}
	s.below[e.Ref] = struct{}{}
	return true
}
