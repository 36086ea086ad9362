// Package navigation knows what main document a tab shows, how far it is loaded, and where the tab has been.
//
// A State is a plain value of the tab's goroutine. It guarantees that a patch may precede the commit of its document, that a commit
// which is repeated is not an event, that an idle network counts only after the load event, and that error pages are not part
// of the history.
package navigation

import (
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// maxHistory is how many pages the history holds.
const maxHistory = 10

// maxVisitURL bounds the URL of a page in the history, in characters: a script may give its page URLs of a megabyte.
const maxVisitURL = 2000

// State is the navigation of one tab. Make one with New.
type State struct {
	// main is the main document; announced says that the browser has reported its commit, and urlKnown that of any.
	main                string
	announced, urlKnown bool
	// address is the URL with the user and the password that it may have: the page is fetched by it again.
	address, url, title string
	httpStatus          int
	// reached has a bit for every phase that the main document has reached, in any order.
	reached   uint8
	loading   bool
	loadError string
	// cause is what is known of loadError beyond the browser's own word, or nil.
	cause     *apierr.Error
	responded driver.Responded
	// recent holds the last main documents, to recognise one that was replaced already.
	recent [16]string
	// commits and sames count what happened, for those who wait for it.
	commits, sames int
	// history is immutable; visited is the URL of its newest entry, as it was.
	history []dom.Visit
	visited string
}

// New returns the state of a tab that shows nothing yet.
func New(url string) State {
	s := State{history: []dom.Visit{}}
	s.SetURL(url)
	return s
}

// Adopt makes a document the main one. First is the blank one that the tab began with, which nobody announced.
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

// Announced reports whether the browser has reported the commit of a document that is the main one.
func (s *State) Announced(document string) bool { return document == s.main && s.announced }

// Announce takes the commit of the main document.
func (s *State) Announce(e driver.Committed) {
	s.announced, s.loading, s.loadError, s.cause = true, true, e.Error, e.Cause
	if e.Cause != nil {
		s.loadError = e.Cause.Message
	}
	s.commits++
}

// Arrive takes the URL that a commit reports, and adds it to the history when the URL is another. The blank page that every tab
// begins with and the browser's error pages are left out.
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

// SetURL notes the URL of the main document. URL does not have the user and the password in it; Address does.
func (s *State) SetURL(url string) { s.address, s.url = url, dom.WithoutUser(url) }

// URLKnown reports whether the browser has reported a URL.
func (s *State) URLKnown() bool { return s.urlKnown }

// SetTitle notes the title of the main document.
func (s *State) SetTitle(title string) {
	s.title = truncate.Runes(title, text.Long)
	if n := len(s.history); n > 0 && s.visited == s.url && s.history[n-1].Title != s.title {
		s.history = slices.Clone(s.history)
		s.history[n-1].Title = s.title
	}
}

// Responded takes the HTTP status of a document, which may be about to become the main one.
func (s *State) Responded(e driver.Responded) {
	s.responded = e
	if e.Document == s.main {
		s.httpStatus = e.Status
	}
}

// Loaded takes that a document reached a phase, and reports whether that is the main one.
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

// Reached reports whether the main document has reached a phase. The network may be idle before the load
// event; that alone does not count.
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

// Arrival reports whether a document, or one that has replaced it since, has reached a phase. The error says why it could not be loaded.
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

// Arrived reports whether the browser has reported the commit of a document, or of one that has replaced it since.
func (s *State) Arrived(document string) bool {
	return s.announced && slices.Contains(s.recent[:], document)
}

// Readable reports whether reading the document makes sense: it is not the blank one that the tab began with, and it is parsed, or
// will not come.
func (s *State) Readable() bool {
	return s.announced && (s.loadError != "" || s.Reached(driver.PhaseDOMContentLoaded))
}

// Stop says that the document does not load any further.
func (s *State) Stop() { s.loading = false }

// Show makes the state that of a page which was shown once, and is there no more.
func (s *State) Show(url, title string) {
	s.SetURL(url)
	s.title, s.httpStatus = title, 0
}

// Main is the main document.
func (s *State) Main() string { return s.main }

// Address is the URL with the user and the password that it may have.
func (s *State) Address() string { return s.address }

// Page returns what the main document shows.
func (s *State) Page() (url, title string, httpStatus int) { return s.url, s.title, s.httpStatus }

// Loading reports whether the main document is still loading.
func (s *State) Loading() bool { return s.loading }

// Refusal is why the main document did not come, when that is because of the URL policy; nil otherwise.
func (s *State) Refusal() error {
	if s.cause != nil && s.cause.Kind == apierr.Refused {
		return s.cause
	}
	return nil
}

// Counts returns how many main documents were committed, and how many navigations stayed within one.
func (s *State) Counts() (commits, sames int) { return s.commits, s.sames }

// History returns the pages that the tab has shown, oldest first. It is not to be written to.
func (s *State) History() []dom.Visit { return s.history }
