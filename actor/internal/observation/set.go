package observation

import (
	"slices"
	"strings"
	"sync"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// MaxSelectors limits how many selectors a page evaluates at the same time.
const MaxSelectors = 64

// Options selects what a watch needs.
type Options struct {
	// Structural and Attributes are as in driver.ReadRequest.
	Structural bool
	Attributes []string
	// Geometry keeps Element.InViewport up to date.
	Geometry bool
	// Selectors keeps Head.Selected up to date, within the limit of selectors that the page evaluates.
	Selectors []dom.Selector
	// Network keeps Head.Network up to date.
	Network bool
	// Notices keeps Head.Notices up to date.
	Notices bool
}

// subscription returns the subscription for a union of options.
func (o Options) subscription() driver.Subscription {
	selectors := slices.Clone(o.Selectors)
	slices.SortFunc(selectors, func(a, b dom.Selector) int {
		if n := strings.Compare(a.CSS, b.CSS); n != 0 || a.Shown == b.Shown {
			return n
		}
		if b.Shown {
			return -1
		}
		return 1
	})
	return driver.Subscription{
		Geometry: o.Geometry, Structural: o.Structural, Network: o.Network, Notices: o.Notices, Selectors: slices.Compact(selectors),
		Attributes: slices.Compact(slices.Sorted(slices.Values(o.Attributes))),
	}
}

// Watch is a follower of the page.
type Watch struct {
	options  Options
	released bool
}

// NewWatch returns a watch that is not in a set yet. It copies the caller's slices.
func NewWatch(o Options) *Watch {
	o.Attributes, o.Selectors = slices.Clone(o.Attributes), slices.Clone(o.Selectors)
	return &Watch{options: o}
}

// Set holds the active watches. Create one with NewSet. It is safe for concurrent use, and none of its methods block.
type Set struct {
	changed chan struct{}

	mu   sync.Mutex
	held map[*Watch]struct{}
	// followers counts the watches that were added by Follow.
	followers uint64
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{held: map[*Watch]struct{}{}, changed: make(chan struct{}, 1)}
}

// Changed returns a channel that receives a value when the tab should look at the set.
func (s *Set) Changed() <-chan struct{} { return s.changed }

// Notify triggers the tab to look at the set when it is idle.
func (s *Set) Notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Add adds watches, except for those that were already released.
func (s *Set) Add(all ...*Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range all {
		if !one.released {
			s.held[one] = struct{}{}
		}
	}
}

// Follow adds a watch and returns its number, which is greater than all earlier ones. It returns false if all watches together have too
// many selectors.
func (s *Set) Follow(one *Watch) (number uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(one.options.Selectors) > 0 {
		all := slices.Clone(one.options.Selectors)
		for other := range s.held {
			all = append(all, other.options.Selectors...)
		}
		if len((Options{Selectors: all}).subscription().Selectors) > MaxSelectors {
			return 0, false
		}
	}
	s.held[one] = struct{}{}
	s.followers++
	s.Notify()
	return s.followers, true
}

// Release ends a watch. It may be called more than once.
func (s *Set) Release(one *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.released {
		return
	}
	one.released = true
	delete(s.held, one)
	s.Notify()
}

// Last returns the number of the newest follower.
func (s *Set) Last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followers
}

// Subscription returns what all active watches need together. The page pushes while there is at least one.
func (s *Set) Subscription() driver.Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all Options
	for one := range s.held {
		all.Structural = all.Structural || one.options.Structural
		all.Geometry = all.Geometry || one.options.Geometry
		all.Attributes = append(all.Attributes, one.options.Attributes...)
		all.Selectors = append(all.Selectors, one.options.Selectors...)
		all.Network = all.Network || one.options.Network
		all.Notices = all.Notices || one.options.Notices
	}
	want := all.subscription()
	want.Push = len(s.held) > 0
	return want
}
