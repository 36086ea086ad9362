package navigation

import (
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// State says where a page is on its way. It is a plain value; the page's monitor guards it.
type State struct {
	// navigating says that the main frame is on its way to another document.
	navigating bool
	// departures counts the beginnings and ends of such ways.
	departures int
	// received is when the browser received the document that the page is to give way to.
	received time.Time
	// down says that the renderer crashed and no document was committed since.
	down bool
	// sacrificed says that the renderer is ended on purpose.
	sacrificed bool
	// windows are the windows that the page opened and that are not tabs yet, the oldest first: whether each is to show a
	// document of its own.
	windows []bool
	// late is how many of the oldest windows nobody waits for any more; arrivals counts those that have arrived.
	late, arrivals int
	// refused is the newest document that the URL policy did not let come.
	refused refusal
	// downloads counts the downloads of the page, of which newest is the last.
	downloads int
	newest    driver.Download
}

// refusal is why the URL policy did not let a document of the main frame come.
type refusal struct {
	document string
	why      *apierr.Error
}

// Departed notes that the main frame is on its way to another document.
func (s *State) Departed() {
	s.departures++
	s.navigating = true
}

// Stopped notes that the main frame stopped. When it was on its way, it counts as on its way until GiveUp is called with
// the departure.
func (s *State) Stopped() (departure int, wasNavigating bool) {
	s.departures++
	return s.departures, s.navigating
}

// GiveUp ends a way that stopped without a document, unless another one began since; it reports whether it did.
func (s *State) GiveUp(departure int) bool {
	if s.departures != departure {
		return false
	}
	s.navigating = false
	return true
}

// Committed notes that the main frame shows a new document.
func (s *State) Committed() { s.navigating, s.down = false, false }

// Arrived notes that the main frame is where it was to go, or stays where it was, without a new document.
func (s *State) Arrived() { s.navigating = false }

// Navigating reports whether the main frame is on its way to another document.
func (s *State) Navigating() bool { return s.navigating }

// Receive notes that the browser has received the document that is to come, or with the zero time that it has not.
func (s *State) Receive(at time.Time) { s.received = at }

// arrivalPatience is how long a page may take to give way to a document that the browser has received already.
const arrivalPatience = 5 * time.Second

// Overdue reports whether the page has not given way for so long.
func (s *State) Overdue(now time.Time) bool {
	return !s.received.IsZero() && now.Sub(s.received) > arrivalPatience
}

// Crashed notes that the renderer is gone; again: that is known already, for the browser reports it in two ways.
// sacrificed reports whether that was on purpose.
func (s *State) Crashed() (again, sacrificed bool) {
	again, sacrificed = s.down, s.sacrificed
	s.down, s.navigating, s.windows, s.late, s.sacrificed = true, false, nil, 0, false
	return again, sacrificed
}

// Sacrifice notes that the renderer is going to be ended on purpose.
func (s *State) Sacrifice() { s.sacrificed = true }

// Down reports whether the renderer is gone.
func (s *State) Down() bool { return s.down }

// WindowOpening notes a window that the page has opened and that is on its way to become a tab.
func (s *State) WindowOpening(url string) {
	s.windows = append(s.windows, strings.HasPrefix(url, "http:") || strings.HasPrefix(url, "https:"))
}

// WindowOpened notes that the oldest window has arrived.
func (s *State) WindowOpened() {
	s.windows = s.windows[min(1, len(s.windows)):]
	s.late = max(0, s.late-1)
	s.arrivals++
}

// WindowBound reports whether the oldest window is to show a document of its own.
func (s *State) WindowBound() bool { return len(s.windows) > 0 && s.windows[0] }

// Opening reports whether any window is on its way to become a tab, but for those that GiveUpWindows gave up.
func (s *State) Opening() bool { return len(s.windows) > s.late }

// GiveUpWindows has nobody wait any more for the windows that are on their way, and returns how many of them were waited for.
func (s *State) GiveUpWindows() (count int) {
	count, s.late = len(s.windows)-s.late, len(s.windows)
	return count
}

// Arrivals counts the windows that have arrived.
func (s *State) Arrivals() int { return s.arrivals }

// Refuse notes why the URL policy did not let a document come, or that it did: nil.
func (s *State) Refuse(document string, why *apierr.Error) { s.refused = refusal{document, why} }

// Refused returns why a document did not come, or nil.
func (s *State) Refused(document string) *apierr.Error {
	if s.refused.document != document {
		return nil
	}
	return s.refused.why
}

// Downloading notes a download of the page, which may be what a navigation turned out to be.
func (s *State) Downloading(d driver.Download) {
	s.downloads++
	s.newest = d
	s.navigating = false
}
