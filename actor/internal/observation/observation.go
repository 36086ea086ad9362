// Package observation tracks the followers of a tab's page, the reports that they need, and the reports so far.
//
// A Set has its own lock, so that releasing a watch never waits for the tab. A State is a plain value of the tab's goroutine. They
// guarantee that only a read that started after a follower was added catches that follower up. After a failed change of the subscription,
// the page's state counts as unknown, and the next call repeats the change.
package observation

import (
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Network is the state of a page's requests. It is known only while a watch requests it.
type Network struct {
	// Known reports whether the browser reports requests, and Busy whether some are in flight.
	Known, Busy bool
	// Since is the time of the last Traffic event, of the start of the reports, or of the commit of the document, whichever is latest.
	Since time.Time
}

// View is the part of a head that is not in the DOM. Views are comparable.
type View struct {
	// CaughtUp is the number of the newest follower that the head was updated for.
	CaughtUp uint64
	Network  Network
	selected *selections
}

// selections holds the matches of selectors in the whole page. It is immutable.
type selections struct {
	found map[dom.Selector]dom.Selection
}

// Selected returns the elements of the whole page that match a selector. It returns false if the main document has not reported yet.
func (v View) Selected(s dom.Selector) (dom.Selection, bool) {
	if v.selected == nil {
		return dom.Selection{}, false
	}
	found, known := v.selected.found[s]
	return found, known
}

// State is the observation state of a page. Create one with New.
type State struct {
	// subscription is the last subscription that was sent to the page. known is false after a failure.
	subscription driver.Subscription
	known        bool
	caught       uint64
	network      Network
	// selected holds each document's report on selectors. merged is derived from it, and nil after a change.
	selected map[dom.FrameID]driver.SelectorsMatched
	merged   *selections
}

// New returns the state of a page without a subscription.
func New() State {
	return State{known: true, selected: map[dom.FrameID]driver.SelectorsMatched{}}
}

// Attach starts over with another page. Followers that were caught up remain so.
func (s *State) Attach() {
	caught := s.caught
	*s = New()
	s.caught = caught
}

// Pushes reports whether the page pushes its changes.
func (s *State) Pushes() bool { return s.subscription.Push }

// Structural reports whether the page reports headings, landmarks, text and images by itself.
func (s *State) Structural() bool { return s.subscription.Structural }

// Needs reports whether the subscription has to be sent to the page. If the reports change, Needs drops the reports so far, because the
// documents report anew.
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

// Asked records the result of sending a subscription to the page. It returns true if the page reports its structure because of the previous
// or the new subscription.
func (s *State) Asked(want driver.Subscription, err error) (structural bool) {
	if s.known = err == nil; !s.known {
		return false
	}
	structural = s.subscription.Structural || want.Structural
	s.subscription = want
	return structural
}

// Invalidate marks the page's subscription as unknown, so that the next call sends it again.
func (s *State) Invalidate() { s.known = false }

// SelectorsMatched records a document's report on selectors.
func (s *State) Selected(e driver.SelectorsMatched) {
	s.selected[e.Frame] = e
	s.merged = nil
}

// Forget drops the report of a frame's document. For the main frame it drops all reports.
func (s *State) Forget(frame dom.FrameID) {
	delete(s.selected, frame)
	if frame == "" {
		clear(s.selected)
	}
	s.merged = nil
}

// Adopt records that the page shows another main document.
func (s *State) Adopt(now time.Time) {
	s.Forget("")
	s.network.Since = now
}

// Traffic records whether requests are in flight.
func (s *State) Traffic(e driver.Traffic, now time.Time) {
	if s.network.Known {
		s.network.Busy, s.network.Since = e.Busy, now
	}
}

// CaughtUp returns the number of the newest follower that was caught up.
func (s *State) CaughtUp() uint64 { return s.caught }

// SetCaughtUp records that the followers up to a number were caught up.
func (s *State) SetCaughtUp(number uint64) { s.caught = number }

// View returns the View for the next head. A selector has no result until the main document has reported on it.
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
