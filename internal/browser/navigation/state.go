package navigation

import (
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// State tracks the progress of a page's navigation. It is a plain value guarded by the page's monitor.
type State struct {
	// navigating is set while the main frame navigates to another document.
	navigating bool
	// departures counts the starts and stops of navigations.
	departures int
	// received is when the browser received the document that the page must give way to.
	received time.Time
	// down is set when the renderer has crashed, until the next commit.
	down bool
	// deliberate is set when the renderer is ended on purpose.
	deliberate bool
	// windows lists the windows that the page opened and that are not tabs yet, oldest first. An entry is true if the window will load a
	// document of its own.
	windows []bool
	// late is how many of the oldest windows are no longer awaited. arrivals counts the windows that have arrived.
	late, arrivals int
	// refused is the newest document that the URL policy refused.
	refused refusal
	// downloads counts the downloads of the page. newest is the last of them.
	downloads int
	newest    driver.Download
}

// refusal is why the URL policy refused a document of the main frame.
type refusal struct {
	document string
	why      *apierr.Error
}

// Departed records that the main frame has started to navigate to another document.
func (s *State) Departed() {
	s.departures++
	s.navigating = true
}

// Stopped records that the main frame has stopped. If it was navigating, it still counts as navigating until GiveUp is called with the
// returned departure.
func (s *State) Stopped() (departure int, wasNavigating bool) {
	s.departures++
	return s.departures, s.navigating
}

// GiveUp ends a navigation that stopped without a document, unless another one has started since. It reports whether it did so.
func (s *State) GiveUp(departure int) bool {
	if s.departures != departure {
		return false
	}
	s.navigating = false
	return true
}

// Committed records that the main frame shows a new document.
func (s *State) Committed() { s.navigating, s.down = false, false }

// Arrived records that the main frame has reached its destination, or stays where it was, without a new document.
func (s *State) Arrived() { s.navigating = false }

// Navigating reports whether the main frame is navigating to another document.
func (s *State) Navigating() bool { return s.navigating }

// Receive records when the browser received the pending document. The zero time means that it has not been received.
func (s *State) Receive(at time.Time) { s.received = at }

// arrivalPatience is how long a page may take to give way to a document that the browser has already received.
const arrivalPatience = 5 * time.Second

// Overdue reports whether the page has blocked a received document for longer than arrivalPatience.
func (s *State) Overdue(now time.Time) bool {
	return !s.received.IsZero() && now.Sub(s.received) > arrivalPatience
}

// Crashed records that the renderer is gone. again reports that this was already known, because the browser announces a crash twice.
// deliberate reports whether the renderer was ended on purpose.
func (s *State) Crashed() (again, deliberate bool) {
	again, deliberate = s.down, s.deliberate
	s.down, s.navigating, s.windows, s.late, s.deliberate = true, false, nil, 0, false
	return again, deliberate
}

// ExpectCrash records that the renderer is about to be ended on purpose.
func (s *State) ExpectCrash() { s.deliberate = true }

// Down reports whether the renderer is gone.
func (s *State) Down() bool { return s.down }

// WindowOpening records a window that the page has opened and that will become a tab.
func (s *State) WindowOpening(url string) {
	s.windows = append(s.windows, strings.HasPrefix(url, "http:") || strings.HasPrefix(url, "https:"))
}

// WindowOpened records that the oldest window has arrived.
func (s *State) WindowOpened() {
	s.windows = s.windows[min(1, len(s.windows)):]
	s.late = max(0, s.late-1)
	s.arrivals++
}

// WindowBound reports whether the oldest window will load a document of its own.
func (s *State) WindowBound() bool { return len(s.windows) > 0 && s.windows[0] }

// Opening reports whether a window is still awaited. Windows that GiveUpWindows gave up do not count.
func (s *State) Opening() bool { return len(s.windows) > s.late }

// GiveUpWindows stops waiting for the windows that have not arrived, and returns how many were still awaited.
func (s *State) GiveUpWindows() (count int) {
	count, s.late = len(s.windows)-s.late, len(s.windows)
	return count
}

// Arrivals returns how many windows have arrived.
func (s *State) Arrivals() int { return s.arrivals }

// Refuse records why the URL policy refused a document. A nil reason means that it did not.
func (s *State) Refuse(document string, why *apierr.Error) { s.refused = refusal{document, why} }

// Refused returns why a document was refused, or nil.
func (s *State) Refused(document string) *apierr.Error {
	if s.refused.document != document {
		return nil
	}
	return s.refused.why
}

// Downloading records a download of the page, which may be the outcome of a navigation.
func (s *State) Downloading(d driver.Download) {
	s.downloads++
	s.newest = d
	s.navigating = false
}
