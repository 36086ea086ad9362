package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Browser opens pages. The production implementation is package browser; tests use a fake.
type Browser interface {
	// NewPage opens a blank page. It returns when the page's observer is installed and what its session
	// pretends is in force, so that nothing a later navigation loads is missed. It fails with an *Error of
	// kind NotFound when there is no such session, and with an *Unfinished when ctx ends while something of the page may
	// still be in the browser.
	NewPage(ctx context.Context, o PageOptions) (Page, error)
	// Pages delivers the pages that pages opened themselves (popups), with their opener's page id.
	// It is closed when the browser is gone for good.
	Pages() <-chan Popup
	// Ready returns when pages can be opened in a session: at once while its browser runs, and else when that was
	// started anew. It fails when ctx ends, and with an *Error of kind Lost when nobody will start it again.
	Ready(ctx context.Context, session string) error
	// Owner names the browser that a session lives in, in letters and digits; empty: the only or first one. It is part of
	// the ids of the session's tabs.
	Owner(session string) string
}

// PageOptions says what page to open.
type PageOptions struct {
	// Session is the name of the session that the page lives in.
	Session string
	// Viewport is the size of the layout viewport; zero: what the session says.
	Viewport dom.Box
}

// Popup is a page that another page opened.
type Popup struct {
	Page   Page
	Opener string
	// Session is that of the opener.
	Session string
	// Bound says that it is on its way to a document: the blank one that it begins with is of no interest.
	Bound bool
}

// Page is one tab of the browser, as the actor sees it. Every method is safe for concurrent use and
// returns when its context ends, even on a page that hangs; what it asked of the page may then
// still happen.
type Page interface {
	// ID is the browser's own name for the page.
	ID() string
	// Events delivers what the page does, in the order in which the browser said it. The channel is
	// closed after a Gone event. The reader must keep reading: a page that is not listened to stalls.
	Events() <-chan Event
	Observer
	Navigator
	Hands
	Seer
	Asker
	Placer
	// Close closes the page, also when it hangs, and returns when the browser has let go of it.
	Close(ctx context.Context) error
}

// Observer reads the DOM of a page's documents.
type Observer interface {
	// Read asks every observed document for what changed since its last patch, after telling it the
	// refs of that one. Patches that the page pushed before are already in Events when Read returns.
	// A document that waits for an acknowledgement that acks does not hold is named in
	// Readout.Unacknowledged and not read: take its patch from Events, then read again. When Read fails,
	// no patch is lost: the next one of every document that was asked is a full one.
	Read(ctx context.Context, req ReadRequest) (Readout, error)
	// Acknowledge tells a document the refs of the elements of its last patch, in order, and so lets it
	// push the next one. It does not wait, but takes effect before any later call. Repeated and late ones
	// are ignored.
	Acknowledge(ack Ack)
	// Observe switches pushing on or off for all documents, present and to come.
	Observe(ctx context.Context, push, geometry bool) error
	// Markup returns every observed document as a reader sees it, the main one first. Documents of frames that
	// do not answer are left out.
	Markup(ctx context.Context) ([]Markup, error)
	// Heed says what all documents, present and to come, are to tell while they push, in place of what it
	// said before. A document tells of the selectors once right after, and then when the answer changes.
	Heed(ctx context.Context, h Heed) error
	// Find finds what a target means that only the page can tell (Target.InPage). Documents of frames that do not
	// answer are left out. What it finds beyond the stored DOM is part of that from the next Read on.
	Find(ctx context.Context, t target.Target) (target.Finding, error)
	// Inherits reports whether an element may be what another one, that is gone, was rendered anew as, for all that
	// the page knows: that one is out of the document and not only hidden, this one came when it had left or
	// later, and the same words stand around both. What the page does not know counts against it.
	Inherits(ctx context.Context, s Succession) (bool, error)
}

// Markup is one document as HTML: what is drawn of it and nothing else, shadow trees flattened, passwords
// masked, links absolute. It is untrusted, but its tags and attributes are of a small set.
type Markup struct {
	Frame    dom.FrameID
	Document string
	// URL and Title are the document's own.
	URL, Title string
	// HTML is the content of the body. An element <x-frame name="F"></x-frame> stands where the document of
	// frame F belongs; no page can make one itself.
	HTML string
	// Unseen is text of the document that is not drawn, the first 50,000 characters. It may end within one.
	Unseen string
	// Truncated says that the document holds more than HTML does, which has about 10 MB at most.
	Truncated bool
	// MediaArea is how much of the viewport pictures, videos and canvases cover, and ViewArea the area of the
	// viewport, in square CSS pixels. What overlaps counts twice.
	MediaArea, ViewArea float64
}

// Ack gives the elements that a patch added their refs.
type Ack struct {
	Frame    dom.FrameID
	Document string
	Sequence uint64
	// Refs stands parallel to the patch's OpAdd operations.
	Refs []dom.Ref
}

// ReadRequest says what to read.
type ReadRequest struct {
	Acks []Ack
	// Restart names the frames whose next patch is to be a full one, because an earlier one was refused.
	Restart []dom.FrameID
	// Structural adds headings, landmarks, text and images to the stored DOM, from now on.
	Structural bool
	// Attributes adds HTML attributes to the stored DOM, from now on.
	Attributes []string
	// Geometry asks for the boxes.
	Geometry bool
	// Mark numbers the reads of a tab, growing. Documents remember what an element was called and what its row said at
	// the last marks, for Known.
	Mark uint64
}

// Readout is the answer of Read.
type Readout struct {
	// Patches holds one patch for every document that changed (or was measured), main frame first.
	Patches []dom.Patch
	// Unacknowledged names the frames that could not be read.
	Unacknowledged []dom.FrameID
	// Late names the frames that did not answer in time, in processes of their own. The first patch after
	// they do is a full one.
	Late []dom.FrameID
}

// Navigator moves a page between documents.
type Navigator interface {
	// Navigate starts a navigation and returns when the browser has committed it or refused it (an
	// *Error of kind Navigation). Same is true when only the fragment changed.
	Navigate(ctx context.Context, url string) (Commit, error)
	// Step moves in the history: -1 back, 1 forward; an *Error of kind NoHistory at its end.
	Step(ctx context.Context, by int) (Commit, error)
	// Reload loads the current document again.
	Reload(ctx context.Context) (Commit, error)
	// Interrupt ends the script that the page is running, if any; the page lives on.
	Interrupt(ctx context.Context) error
	// Ping returns when the page's main thread answers.
	Ping(ctx context.Context) error
}

// Commit names the document that a navigation led to. Loaded events carry the same Document.
type Commit struct {
	Document string
	Same     bool
}

// Hands act on a page.
type Hands interface {
	// Do performs one action on what it names and on nothing else. It waits, for 2 seconds at most and less when ctx
	// ends earlier, until the element can be acted on. What is wrong with the element is an *Error of kind Stale or
	// NotActionable, and what is wrong with the action one of kind Invalid; in all three cases the element was
	// not acted on, unless the message says so.
	Do(ctx context.Context, a Action) (Deed, error)
	// Attend says that actions follow, or that they are over: Settle waits for the requests that the page makes from then
	// on. It does not wait, but takes effect before any later call.
	Attend(ctx context.Context, on bool)
	// Settle returns when what an action in a frame set off has come to rest: the page has handled the input, has
	// produced a frame, and its DOM was quiet for a moment, for which it waits at most for limit; a navigation of the
	// main frame that is under way then has been committed or given up; and the requests that the page made since
	// Attend are answered, for which it waits 3 seconds at most, and half a second for the rest of an answer that
	// has begun.
	Settle(ctx context.Context, frame dom.FrameID, limit time.Duration) error
	// Screenshot takes a picture.
	Screenshot(ctx context.Context, s Shot) ([]byte, error)
}

// Shot says what picture to take.
type Shot struct {
	// Format is "png", "jpeg" or "webp".
	Format string
	// Quality is 1 to 100, for jpeg and webp.
	Quality  int
	FullPage bool
	// Clip, when its width is positive, is the part to show, in viewport coordinates.
	Clip dom.Box
}

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
	Cause *Error
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

func (Patched) event()   {}
func (Committed) event() {}
func (Titled) event()    {}
func (Responded) event() {}
func (Loaded) event()    {}
func (FrameGone) event() {}
func (Crashed) event()   {}
func (Gone) event()      {}
