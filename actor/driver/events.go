package driver

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
)

// Event is an event of a page. The implementations are in this file.
type Event interface{ event() }

// Patched carries a patch that a document pushed.
type Patched struct{ Patch dom.Patch }

// Committed reports that a frame shows another document, or that its URL changed within the document. It precedes all other events of the
// new document.
type Committed struct {
	Frame dom.FrameID
	// Document is the new document. It is unchanged for same-document navigations.
	Document string
	URL      string
	Same     bool
	// Error is set if the document is the browser's error page.
	Error string
	// Cause is set if the document was blocked by the URL policy, or failed for another reason that is unknown to the browser.
	Cause *apierr.Error
}

// TitleChanged carries the main document's title.
type TitleChanged struct{ Title string }

// ResponseReceived carries the HTTP status of a main document.
type ResponseReceived struct {
	Document string
	Status   int
}

// Phase is a point in the loading of a document.
type Phase uint8

// The phases, in order.
const (
	PhaseCommit Phase = iota
	PhaseDOMContentLoaded
	PhaseLoad
	PhaseNetworkIdle
)

// Loaded reports that the main document reached a phase.
type Loaded struct {
	Document string
	Phase    Phase
}

// FrameGone reports that a frame was removed.
type FrameGone struct{ Frame dom.FrameID }

// Crashed reports that the page's renderer crashed. The page can still be navigated.
type Crashed struct {
	Reason string
	// Deliberate reports that Navigate, Step or Reload ended the renderer to leave a page that could not be left otherwise. That call
	// continues.
	Deliberate bool
}

// Gone reports that the page is closed. Err is set if the browser ended too.
type Gone struct{ Err error }

// DialogOpened reports that the page has opened a dialog. The dialog blocks the page, unless Dialog.Answer shows that it was answered
// immediately.
type DialogOpened struct{ Dialog Dialog }

// DialogClosed reports that the open dialog has closed, and its outcome.
type DialogClosed struct{ Dialog Dialog }

// DownloadProgressed reports the progress of a download: its start, its end, and at most two updates a second in between.
type DownloadProgressed struct{ Download Download }

// SelectorsMatched reports which elements of a document match selectors. It replaces the document's previous report.
type SelectorsMatched struct {
	Frame    dom.FrameID
	Document string
	Found    map[dom.Selector]dom.Selection
}

// NoticesReported reports what a person would notice in a document.
type NoticesReported struct {
	Frame    dom.FrameID
	Document string
	Notices  []dom.Notice
}

// Traffic reports whether requests are in flight. It is also sent after a request that was too short to be seen in flight.
type Traffic struct{ Busy bool }

// FileChooserRequested reports that the page tried to open a file chooser that no action expected. No chooser is open.
type FileChooserRequested struct{}

// WindowsPending reports the number of windows that the page opened but the browser had not reported when an action settled.
type WindowsPending struct{ Count int }

func (FileChooserRequested) event() {}
func (Committed) event()            {}
func (Crashed) event()              {}
func (DialogClosed) event()         {}
func (DialogOpened) event()         {}
func (DownloadProgressed) event()   {}
func (FrameGone) event()            {}
func (Gone) event()                 {}
func (Loaded) event()               {}
func (NoticesReported) event()      {}
func (Patched) event()              {}
func (ResponseReceived) event()     {}
func (SelectorsMatched) event()     {}
func (TitleChanged) event()         {}
func (Traffic) event()              {}
func (WindowsPending) event()       {}
