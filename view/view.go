// Package view computes a caller's view of a snapshot. It filters and ranks elements, and limits the selection to a number of elements and
// a budget of tokens.
//
// A view never changes what is stored. Of is pure: it only reads the snapshot and the options, so callers with different options do not
// affect each other, and equal arguments always produce equal views. A Memo computes the same views incrementally, at a cost that depends on
// what has changed since the previous view. The guarantees, all of them tested:
//
//   - The elements are a subsequence of the snapshot's elements, in document order.
//   - There are never more than MaxElements, and their cost plus Overhead never exceeds MaxTokens.
//   - A limit never omits an element while it keeps a lower-ranked one.
//   - Views that continue each other (Given) show every selected element once.
//
// Callers must pass a snapshot in document order, parents before children, and must set Options.Cost if they set Options.MaxTokens. They
// must not modify the elements of a view, which it shares with the snapshot.
package view

import (
	"errors"
	"fmt"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// Options selects what a caller wants to see. The zero value shows everything except attributes.
type Options struct {
	// InteractiveOnly excludes structural elements and frame hosts.
	InteractiveOnly bool
	// ViewportOnly excludes elements that were outside the viewport when the boxes were last read.
	ViewportOnly bool

	// HasRoot limits the view to the element Root and its descendants. The other filters apply to the
	// root as well.
	HasRoot bool
	Root    dom.Ref
	// HasFrame limits the view to Frame. Frames inside it are excluded. As in dom.Element, the empty string is the main frame.
	HasFrame bool
	Frame    dom.FrameID

	// Given reports whether an element was shown in an earlier answer that this view continues. Such elements count in View.Total and are
	// removed before the limits apply. Given is called at most once for each selected element. If nil, there are no earlier answers.
	Given func(dom.Ref) bool

	// MaxElements limits the number of elements. 0 or less means no limit.
	MaxElements int
	// MaxTokens limits the cost of the view's text. 0 or less means no limit.
	MaxTokens int
	// Overhead is the cost of the text before its first element. It applies only with MaxTokens.
	Overhead int
	// Cost returns the cost of the text of one element, including its line end. Of calls Cost at most once for each element and never for
	// elements that rank below the limits. It is required with MaxTokens.
	Cost func(*dom.Element) int

	// Attributes lists the HTML attributes to show. Stored elements may have more, because callers share them. Such an element is copied
	// without the others.
	Attributes []string
}

// Reason is the limit that truncated a view.
type Reason uint8

// The values of Reason.
const (
	// NotTruncated means that the view contains everything that was selected, except for elements in earlier answers.
	NotTruncated Reason = iota
	// ElementLimit means that MaxElements truncated the view.
	ElementLimit
	// TokenBudget means that MaxTokens truncated the view, possibly after MaxElements.
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

// View is the part of a snapshot that a caller sees. It is immutable.
type View struct {
	// Elements is in document order. It may be the snapshot's own list.
	Elements dom.List
	// Total is the number of selected elements before the limits apply, including elements in earlier answers.
	Total int
	// Reason is the limit that omitted elements.
	Reason Reason
	// Tokens is Overhead plus the cost of Elements if a budget was set, and 0 otherwise. It exceeds the budget only if Overhead already
	// does; then there are no elements.
	Tokens int
	// Contexts distinguishes elements with the same role and name. Of leaves it empty. Callers that print the view may set it, and must
	// then use a Cost that includes the contexts.
	Contexts map[dom.Ref]elementcontext.Context
	// OmittedByRole counts the elements that the limits omitted, by role. Elements without a role count as "generic". It is nil if nothing
	// was omitted.
	OmittedByRole map[string]int
}

// ErrNoRoot reports that the root of a view is not in the snapshot.
type ErrNoRoot struct{ Ref dom.Ref }

// Error states how to proceed.
func (e ErrNoRoot) Error() string {
	return fmt.Sprintf("ref %d is gone from the page: take a new snapshot without a root, and use one of its refs", e.Ref)
}

// errNoCost is an error of the calling code, not of the client.
var errNoCost = errors.New("view: MaxTokens is set without Cost")

// Of returns the view of a snapshot. It fails with ErrNoRoot if the root is not in the snapshot.
func Of(s *dom.Snapshot, o Options) (View, error) {
	if o.MaxTokens > 0 && o.Cost == nil {
		return View{}, errNoCost
	}
	all := s.Elements.Slice()
	selected, err := o.choose(all)
	if err != nil {
		return View{}, err
	}
	list := s.Elements
	if shown := o.project(o.rest(selected)); len(shown) != len(all) || len(all) > 0 && &shown[0] != &all[0] {
		list = dom.ListOf(shown)
	}
	if o.MaxElements <= 0 && o.MaxTokens <= 0 {
		return View{Elements: list, Total: len(selected)}, nil
	}
	m := &Memo{list: list, chunks: list.Chunks()}
	for _, c := range m.chunks {
		m.parts = append(m.parts, newPart(c))
	}
	v := m.view(o)
	v.Total = len(selected)
	return v, nil
}

// choose returns the elements that pass the filter. It returns the slice itself if all pass.
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

// rest returns the selected elements that are not in earlier answers. It returns the slice itself if none were.
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

// filter decides which elements are selected. It must be applied to all elements, in document order.
type filter struct {
	options Options
	// below holds the refs of the root and its descendants, once the root has been seen.
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
