package driver

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
)

// Event is something that a page did. The implementations are in this file.
type Event interface{ event() }

// Patched carries what a document pushed.
type Patched struct{ Patch dom.Patch }

// Committed says that a frame shows another document, or that its URL changed within the document. It
// precedes whatever else concerns the new document.
type Committed struct {
	Frame dom.FrameID
	// Document is the new document; the same as before for same-document navigations.
	Document string
	URL      string
	Same     bool
	// Error is set when the document is the browser's own error page.
	Error string
	// Cause is set when the document did not come because of the URL policy, or for another reason that the browser itself
	// does not know.
	Cause *apierr.Error
}

// Titled carries the main document's title.
type Titled struct{ Title string }

// Responded carries the HTTP status of a main document.
type Responded struct {
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

// Loaded says that the main document reached a phase.
type Loaded struct {
	Document string
	Phase    Phase
}

// FrameGone says that a frame was removed.
type FrameGone struct{ Frame dom.FrameID }

// Crashed says that the page's renderer is gone. The page can still be navigated.
type Crashed struct {
	Reason string
	// Sacrificed says that Navigate, Step or Reload ended it, to get away from a page that could not be left
	// otherwise; they go on.
	Sacrificed bool
}

// Gone says that the page is closed; Err is set when the browser is gone with it.
type Gone struct{ Err error }

// DialogOpened says that the page has opened a dialog. It waits behind it, unless Dialog.Answer says that the dialog
// was answered at once.
type DialogOpened struct{ Dialog Dialog }

// DialogClosed says that the dialog that was open is gone, and what became of it.
type DialogClosed struct{ Dialog Dialog }

// Downloaded says how a download goes: when it begins and ends, and in between at most twice a second.
type Downloaded struct{ Download Download }

// Selected tells what selectors match in a document, in place of what was told of it before.
type Selected struct {
	Frame    dom.FrameID
	Document string
	Found    map[dom.Selector]dom.Selection
}

// Noticed tells what a person would notice in a document.
type Noticed struct {
	Frame    dom.FrameID
	Document string
	Notices  []dom.Notice
}

// Traffic tells that requests are under way, or that none is; also when one was so short that it is over.
type Traffic struct{ Busy bool }

// ChooserAsked says that the page wanted to open a file chooser, and that no action expected it. None is open.
type ChooserAsked struct{}

// WindowsLate says that so many windows, which the page opened, were not reported by the browser when an action was settled.
type WindowsLate struct{ Count int }

func (ChooserAsked) event() {}
func (Committed) event()    {}
func (Crashed) event()      {}
func (DialogClosed) event() {}
func (DialogOpened) event() {}
func (Downloaded) event()   {}
func (FrameGone) event()    {}
func (Gone) event()         {}
func (Loaded) event()       {}
func (Noticed) event()      {}
func (Patched) event()      {}
func (Responded) event()    {}
func (Selected) event()     {}
func (Titled) event()       {}
func (Traffic) event()      {}
func (WindowsLate) event()  {}
