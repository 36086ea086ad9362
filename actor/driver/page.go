package driver

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Browser opens pages. The production implementation is package browser; tests use a fake.
type Browser interface {
	// NewPage opens a blank page. It returns when the page's observer is installed and what its session
	// pretends is in force, so that nothing a later navigation loads is missed. It fails with an *apierr.Error of
	// kind NotFound when there is no such session, and with an *Unfinished when ctx ends while something of the page may
	// still be in the browser.
	NewPage(ctx context.Context, o PageOptions) (Page, error)
	// Pages delivers the pages that pages opened themselves (popups), with their opener's page id.
	// It is closed when the browser is gone for good.
	Pages() <-chan Popup
	// Ready returns when pages can be opened in a session: at once while its browser runs, and else when that was
	// started anew. It fails when ctx ends, and with an *apierr.Error of kind Lost when nobody will start it again.
	Ready(ctx context.Context, session string) error
	// Owner names the browser that a session lives in, in letters and digits; empty: the only or first one. It is part of
	// the ids of the session's tabs.
	Owner(session string) string
}

// DefaultSession is the name of the session that always exists.
const DefaultSession = "default"

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
// returns when its context ends, even on a page that hangs; what was asked of the page may still happen then.
type Page interface {
	// ID is the browser's own name for the page.
	ID() string
	// Events delivers what the page does, in the order in which the browser reported it. The channel is
	// closed after a Gone event. The reader must keep reading: a page whose events are not read stalls.
	Events() <-chan Event
	// Log holds the console messages and requests of the page's documents. It is the same one for the life of the page.
	Log() *pagelog.Log
	Observer
	Query
	Navigator
	Input
	Capturer
	Dialogs
	Scroller
	PageStorage
	Bodies
	Freezer
	// Guard has a function asked right before each command that acts on the page is sent to the browser: with an error, the command is
	// not sent, and the error is that of the call. It must not wait.
	Guard(check func() error)
	// Close closes the page, also when it hangs, and returns when the browser has let go of it.
	Close(ctx context.Context) error
}

// Observer reads the DOM of a page's documents, and says what they push.
type Observer interface {
	// Read asks every observed document for what changed since its last patch, after telling it the
	// refs of that one. Patches that the page pushed before are already in Events when Read returns.
	// A document that waits for an acknowledgement that acks does not hold is named in
	// Readout.Unacknowledged and not read: take its patch from Events, then read again. When Read fails,
	// no patch is lost: the next one of every document that was asked is a full one.
	Read(ctx context.Context, req ReadRequest) (Readout, error)
	// Prepare has the documents examined that were not read yet, without a word of what is in them: the first Read finds
	// them ready, and waits for what is under way. It does not wait, and may do nothing.
	Prepare()
	// Acknowledge tells a document the refs of the elements of its last patch, in order, and so lets it
	// push the next one. It does not wait, but takes effect before any later call. Repeated and late ones
	// are ignored.
	Acknowledge(ack Ack)
	// Subscribe says what all documents, present and to come, push and report, in place of what it said before. A document
	// reports the selectors once right after they were changed, and then when the answer changes. A call that failed may
	// have taken effect in part: it is to be repeated. The same subscription may be given again.
	Subscribe(ctx context.Context, s Subscription) error
	// Notice says which documents a call that begins asks for what a person would notice, or that it ends: Noticed events
	// report it in between, at the latest before a Read returns. Of documents that come meanwhile all is new. It does not
	// wait, but takes effect before any later call.
	Notice(ctx context.Context, n Noticing)
	// CollectNotices returns when Noticed events have reported what there is to notice in the frames of the main process.
	// Last: with that they have also been told that the call ends, as by Notice.
	CollectNotices(ctx context.Context, last bool) error
}

// Query asks a page's documents single questions.
type Query interface {
	// Markup returns every observed document as a reader sees it, the main one first. Documents of frames that
	// do not answer are left out. With a root, whose Ref is not dom.NoRef, it returns only the content of that element.
	Markup(ctx context.Context, root Element) ([]Markup, error)
	// Find finds what a target means that only the page can tell (Target.InPage). Documents of frames that do not
	// answer are left out. What it finds beyond the stored DOM is part of that from the next Read on.
	Find(ctx context.Context, t target.Target) (target.Finding, error)
	// Replaces reports whether an element may be what another one, that is gone, was rendered anew as, for all that
	// the page knows: that one is out of the document and not only hidden, this one came when it had left or
	// later, and the same words stand around both. What the page does not know counts against it.
	Replaces(ctx context.Context, r Replacement) (bool, error)
	// Building reports whether the main document is still being built, as a person sees it: it says so ("Loading…"), or shows
	// nothing yet although it loaded scripts or data. Report has a Noticed event say what the page says of that.
	Building(ctx context.Context, report bool) (Building, error)
	// Extract runs a plan in the documents of the page and returns what each answered.
	Extract(ctx context.Context, e Extraction) ([]Extract, error)
	// Barriers looks for barriers in every document, the main one first, and asks the main one for its web vitals. Missing counts the frames that
	// did not answer.
	Barriers(ctx context.Context) (found []Audited, missing int, err error)
	// Evaluate runs a script in the page's own world. It fails with an *apierr.Error of kind Stale or NotFound; that the
	// script threw is not a failure. When ctx ends the script is ended.
	Evaluate(ctx context.Context, s Script) (Evaluated, error)
}

// Building is whether and how a page is still being built.
type Building uint8

const (
	// Built is a page that is there.
	Built Building = iota
	// Blank is one that shows nothing yet.
	Blank
	// Loading is one that says, or shows by a skeleton, that it is loading.
	Loading
)

// Navigator moves a page between documents.
type Navigator interface {
	// Navigate starts a navigation and returns when the browser has committed it or refused it (an
	// *apierr.Error of kind Navigation). Same is true when only the fragment changed.
	Navigate(ctx context.Context, url string) (Commit, error)
	// Step moves in the history: -1 back, 1 forward; an *apierr.Error of kind NoHistory at its end.
	Step(ctx context.Context, by int) (Commit, error)
	// Reload loads the current document again.
	Reload(ctx context.Context) (Commit, error)
	// Interrupt ends the script that the page is running, if any; the page lives on.
	Interrupt(ctx context.Context) error
	// Ping returns when the page's main thread answers.
	Ping(ctx context.Context) error
}

// Input acts on a page as its user does.
type Input interface {
	// Do performs one action on what it names and on nothing else. It waits, for 2 seconds at most and less when ctx
	// ends earlier, until the element can be acted on. What is wrong with the element is an *apierr.Error of kind Stale or
	// NotActionable, and what is wrong with the action one of kind Invalid; in all three cases the element was
	// not acted on, unless the message says so.
	Do(ctx context.Context, a Action) (DoResult, error)
	// LetGo releases the button that a MouseDown has left down, if it still is. It does not wait, but takes effect before any later
	// call.
	LetGo(ctx context.Context)
	// Attend says that actions follow, or that they are over: Settle waits for the requests that the page makes from then
	// on. It does not wait, but takes effect before any later call.
	Attend(ctx context.Context, on bool)
	// Settle returns when what an action in a frame set off has come to rest. The page has handled the input, and
	// nothing of it is pending, as the page knows; when the page does not know, it has produced a frame and its DOM was
	// quiet for a moment, for which Settle waits at most for limit. A navigation of the main frame that is under way then
	// has been committed or given up; and the requests that the page made since Attend are answered, for which Settle
	// waits 3 seconds at most, and half a second for the rest of an answer that has begun. With timers Settle also waits, for
	// half a second at most, for those that the page set while it handled the action, and for the requests that these make.
	// A Noticed event reports requests that are not answered when Settle returns.
	Settle(ctx context.Context, frame dom.FrameID, limit time.Duration, timers bool) error
	// AwaitWindows returns when the main thread is free and the windows that the page has opened by then are popups, or
	// have been announced by WindowsLate: one that opens many takes its time for each.
	AwaitWindows(ctx context.Context) error
	// Reveal scrolls an element into the middle of every box and frame that scrolls, one that is larger to its start.
	// It fails with an *apierr.Error of kind Stale.
	Reveal(ctx context.Context, e Element) error
}

// Capturer draws a page.
type Capturer interface {
	// Screenshot takes a picture.
	Screenshot(ctx context.Context, s Shot) ([]byte, error)
	// Extent is the box of the whole page, relative to the viewport, with what a picture can show of it, and the width of the viewport without
	// scrollbars that take room. All are in CSS pixels.
	Extent(ctx context.Context) (whole dom.Box, width float64, err error)
	// Record takes pictures of the viewport whenever it changes, until ctx ends, and gives each to frame, which may fail to end the recording. It fails with an
	// *apierr.Error of kind Exhausted while another recording of the page is under way, and of kind NotActionable in a session with masks.
	Record(ctx context.Context, r Recording, frame func(Frame) error) error
	// Print makes a PDF of the page.
	Print(ctx context.Context, p PrintOptions) ([]byte, error)
}

// Bodies reads what servers have answered.
type Bodies interface {
	// Body returns the body of the answer to a request, decoded, by the browser's id of that (pagelog.Detail.ID). The browser keeps bodies of at most
	// 1 MiB, the newest 2 MiB together of each renderer, and those in its memory cache. It fails with an *apierr.Error of kind NotFound when it does not have it
	// (any more), and of kind NotActionable in a session with masks.
	Body(ctx context.Context, request string) ([]byte, error)
}

// Freezer stops a page that nobody looks at.
type Freezer interface {
	// SetFrozen freezes a page, or thaws it. A frozen page is hidden and runs none of its tasks: no timers, no animations, no
	// answers of servers, not in its frames and workers either. It answers Read and Ping, and can be navigated and closed; what a frozen page is navigated to is frozen,
	// too. It does not wait for the page. When it fails, the page may be either.
	SetFrozen(ctx context.Context, frozen bool) error
}

// Commit names the document that a navigation led to. Loaded events carry the same Document.
type Commit struct {
	Document string
	Same     bool
}
