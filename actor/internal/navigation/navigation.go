// Package navigation tracks a tab's main document, its loading progress, and the tab's history.
//
// A State is a plain value of the tab's goroutine. It guarantees that a patch may precede the commit of its document, that a repeated
// commit is not an event, that an idle network counts only after the load event, and that error pages are not part of the history.
package navigation

import (
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// maxHistory limits how many pages the history holds.
const maxHistory = 10

// maxVisitURL bounds the URLs in the history, in characters, because a script can set URLs of a megabyte.
const maxVisitURL = 2000

// State is the navigation state of a tab. Create one with New.
type State struct {
	// main is the main document. announced reports whether the browser has reported its commit, and urlKnown whether the browser has
	// reported any commit.
	main                string
	announced, urlKnown bool
	// address is the URL including a user and password; the page is loaded again from it.
	address, url, title string
	httpStatus          int
	// reached has a bit for every phase that the main document has reached. Phases may be reached in any order.
	reached   uint8
	loading   bool
	loadError string
	// cause is the detailed cause of loadError, or nil if only the browser's message is known.
	cause     *apierr.Error
	responded driver.ResponseReceived
	// recent holds the last main documents, to recognize documents that were already replaced.
	recent [16]string
	// commits and sames count commits and same-document navigations.
	commits, sames int
	// history is immutable. visited is the unmodified URL of its newest entry.
	history []dom.Visit
	visited string
}

// New returns the state of a blank tab.
func New(url string) State {
	s := State{history: []dom.Visit{}}
	s.SetURL(url)
	return s
}

// Adopt makes a document the main document. first is set for the blank document that the tab started with, which the browser does not
// announce.
func (s *State) Adopt(document string, first bool) {
	s.main, s.announced, s.reached = document, false, 0
	copy(s.recent[1:], s.recent[:])
	s.recent[0] = document
	if first {
		return
	}
	s.loadError, s.cause, s.title, s.httpStatus = "", nil, "", 0
	if s.responded.Document == document {
		s.httpStatus = s.responded.Status
	}
}

// Announced reports whether a document is the main document and the browser has reported its commit.
func (s *State) Announced(document string) bool { return document == s.main && s.announced }

// Announce records the commit of the main document.
func (s *State) Announce(e driver.Committed) {
	s.announced, s.loading, s.loadError, s.cause = true, true, e.Error, e.Cause
	if e.Cause != nil {
		s.loadError = e.Cause.Message
	}
	s.commits++
}

// Arrive records the URL of a commit, and adds it to the history if it differs from the last entry. The history omits the blank page that
// every tab starts with, and error pages.
func (s *State) Arrive(e driver.Committed) {
	if e.Same {
		s.sames++
	}
	s.SetURL(e.URL)
	s.urlKnown = true
	if s.loadError != "" || len(s.history) == 0 && s.url == "about:blank" || len(s.history) > 0 && s.visited == s.url {
		return
	}
	s.visited = s.url
	entries := append(slices.Clone(s.history), dom.Visit{URL: truncate.Runes(dom.MaskParameters(s.url), maxVisitURL), Title: s.title})
	s.history = entries[max(0, len(entries)-maxHistory):]
}

// SetURL sets the URL of the main document. The url field omits user and password; address includes them.
func (s *State) SetURL(url string) { s.address, s.url = url, dom.WithoutUser(url) }

// URLKnown reports whether the browser has reported a URL.
func (s *State) URLKnown() bool { return s.urlKnown }

// SetTitle sets the title of the main document.
func (s *State) SetTitle(title string) {
	s.title = truncate.Runes(title, text.Long)
	if n := len(s.history); n > 0 && s.visited == s.url && s.history[n-1].Title != s.title {
		s.history = slices.Clone(s.history)
		s.history[n-1].Title = s.title
	}
}

// ResponseReceived records the HTTP status of a document, which may become the main document later.
func (s *State) Responded(e driver.ResponseReceived) {
	s.responded = e
	if e.Document == s.main {
		s.httpStatus = e.Status
	}
}

// Loaded records that a document reached a phase. It returns false if that is not the main document.
func (s *State) Loaded(e driver.Loaded) bool {
	if e.Document != s.main {
		return false
	}
	s.reached |= 1 << e.Phase
	if s.Reached(driver.PhaseLoad) {
		s.loading = false
	}
	return true
}

// Reached reports whether the main document has reached a phase. An idle network counts only after the load event.
func (s *State) Reached(phase driver.Phase) bool {
	has := func(p driver.Phase) bool { return s.reached&(1<<p) != 0 }
	switch phase {
	case driver.PhaseCommit:
		return true
	case driver.PhaseDOMContentLoaded:
		return has(driver.PhaseDOMContentLoaded) || has(driver.PhaseLoad)
	case driver.PhaseNetworkIdle:
		return has(driver.PhaseLoad) && has(driver.PhaseNetworkIdle)
	}
	return has(driver.PhaseLoad)
}

// Arrival reports whether a document, or a document that has replaced it since, has reached a phase. It returns an error if the document
// could not be loaded.
func (s *State) Arrival(document string, phase driver.Phase) (bool, error) {
	switch {
	case !s.Arrived(document):
		return false, nil
	case s.cause != nil:
		return false, s.cause
	case s.loadError != "":
		return false, apierr.Errorf(apierr.Navigation, "%s could not be loaded: %s", s.url, s.loadError)
	}
	return s.Reached(phase), nil
}

// Arrived reports whether the browser has reported the commit of a document, or of a document that has replaced it since.
func (s *State) Arrived(document string) bool {
	return s.announced && slices.Contains(s.recent[:], document)
}

// Readable reports whether the document is worth reading: it is not the tab's initial blank document, and it is parsed or failed to load.
func (s *State) Readable() bool {
	return s.announced && (s.loadError != "" || s.Reached(driver.PhaseDOMContentLoaded))
}

// Stop records that the document has stopped loading.
func (s *State) Stop() { s.loading = false }

// Show sets the URL and title of a page that was shown before but is gone.
func (s *State) Show(url, title string) {
	s.SetURL(url)
	s.title, s.httpStatus = title, 0
}

// Main returns the main document.
func (s *State) Main() string { return s.main }

// Address returns the URL including a user and password.
func (s *State) Address() string { return s.address }

// Page returns the URL, title and HTTP status of the main document.
func (s *State) Page() (url, title string, httpStatus int) { return s.url, s.title, s.httpStatus }

// Loading reports whether the main document is still loading.
func (s *State) Loading() bool { return s.loading }

// Refusal returns the error of the URL policy if the policy blocked the main document, and nil otherwise.
func (s *State) Refusal() error {
	if s.cause != nil && s.cause.Kind == apierr.Refused {
		return s.cause
	}
	return nil
}

// Counts returns the number of committed main documents and of same-document navigations.
func (s *State) Counts() (commits, sames int) { return s.commits, s.sames }

// History returns the pages that the tab has shown, oldest first. It must not be modified.
func (s *State) History() []dom.Visit { return s.history }
