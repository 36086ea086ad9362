// Package observation knows who follows a tab's page, what the page is asked to report for them, and what it reported.
//
// A Set has a lock of its own, so that releasing a watch never waits for the tab; a State is a plain value of the tab's
// goroutine. They guarantee that only a read which began after a follower came catches that one up, and that a change which failed
// leaves the page's state unknown: the next call repeats it.
package observation

import (
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Network is what is known of a page's requests, while somebody asks.
type Network struct {
	// Known says that the browser reports requests; Busy, that some are under way.
	Known, Busy bool
	// Since is when the last one ended, when the browser began to report, or when the document was committed.
	Since time.Time
}

// View is what a head has beside the DOM. Views can be compared.
type View struct {
	// CaughtUp is the number of the newest follower that the head was brought up to date for.
	CaughtUp uint64
	Network  Network
	selected *selections
}

// selections is what the selectors match in the whole page, immutable.
type selections struct {
	found map[dom.Selector]dom.Selection
}

// Selected returns what a selector matches in the whole page; false when the main document has not reported yet.
func (v View) Selected(s dom.Selector) (dom.Selection, bool) {
	if v.selected == nil {
		return dom.Selection{}, false
	}
	found, known := v.selected.found[s]
	return found, known
}

// State is the observation of one page. Make one with New.
type State struct {
	// subscription is what the page was asked for last; known is false after a failure.
	subscription driver.Subscription
	known        bool
	caught       uint64
	network      Network
	// selected is what each document reported of selectors; merged is made of it, and nil when that has changed.
	selected map[dom.FrameID]driver.Selected
	merged   *selections
}

// New returns the state of a page that was asked for nothing.
func New() State {
	return State{known: true, selected: map[dom.FrameID]driver.Selected{}}
}

// Attach begins with another page. Who was caught up stays so.
func (s *State) Attach() {
	caught := s.caught
	*s = New()
	s.caught = caught
}

// Pushes reports whether the page pushes its changes.
func (s *State) Pushes() bool { return s.subscription.Push }

// Structural reports whether the page reports headings, landmarks, text and images by itself.
func (s *State) Structural() bool { return s.subscription.Structural }

// Needs reports whether the page has to be asked for a subscription. What the page reported by another one is forgotten then:
// the documents report anew.
func (s *State) Needs(want driver.Subscription, now time.Time) bool {
	if !s.subscription.EqualReports(want) {
		s.network = Network{Known: want.Network, Busy: s.network.Busy && s.subscription.Network, Since: s.network.Since}
		if !s.subscription.Network {
			s.network.Since = now
		}
		s.Forget("")
	}
	return !s.known || !s.subscription.Equal(want)
}

// Asked takes that the page was asked for a subscription, or that asking failed; structural says that the document was or is
// asked for its structure.
func (s *State) Asked(want driver.Subscription, err error) (structural bool) {
	if s.known = err == nil; !s.known {
		return false
	}
	structural = s.subscription.Structural || want.Structural
	s.subscription = want
	return structural
}

// Invalidate says that the page may not be as it was asked: the next call asks again.
func (s *State) Invalidate() { s.known = false }

// Selected takes what a document reported of selectors.
func (s *State) Selected(e driver.Selected) {
	s.selected[e.Frame] = e
	s.merged = nil
}

// Forget forgets what a frame's document reported; that of the main frame goes with all others.
func (s *State) Forget(frame dom.FrameID) {
	delete(s.selected, frame)
	if frame == "" {
		clear(s.selected)
	}
	s.merged = nil
}

// Adopt takes that the page shows another main document.
func (s *State) Adopt(now time.Time) {
	s.Forget("")
	s.network.Since = now
}

// Traffic takes that requests are under way, or that none is.
func (s *State) Traffic(e driver.Traffic, now time.Time) {
	if s.network.Known {
		s.network.Busy, s.network.Since = e.Busy, now
	}
}

// CaughtUp is the newest follower that was brought up to date.
func (s *State) CaughtUp() uint64 { return s.caught }

// SetCaughtUp says that the followers up to a number were brought up to date.
func (s *State) SetCaughtUp(number uint64) { s.caught = number }

// View returns what the next head has. Until the main document has reported of a selector, nothing is known of it.
func (s *State) View() View {
	if s.merged == nil {
		s.merged = &selections{found: map[dom.Selector]dom.Selection{}}
		for selector, found := range s.selected[""].Found {
			for frame, in := range s.selected {
				if frame != "" {
					found = found.With(in.Found[selector])
				}
			}
			s.merged.found[selector] = found
		}
	}
	return View{CaughtUp: s.caught, Network: s.network, selected: s.merged}
}
