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
	// NewPage opens a blank page. It returns when the page's observer is installed and the session's emulation is active, so that later
	// navigations are covered completely. It fails with an *apierr.Error of kind NotFound if the session does not exist, and with an
	// *NotCreatedError if ctx ends while parts of the page may remain in the browser.
	NewPage(ctx context.Context, o PageOptions) (Page, error)
	// Pages delivers the pages that pages opened (popups), with the page ID of their opener. It is closed when the browser has ended for
	// good.
	Pages() <-chan Popup
	// Ready returns when pages can be opened in a session: immediately while its browser runs, and otherwise after the browser has
	// restarted. It fails when ctx ends, and with an *apierr.Error of kind Lost when the browser will not restart.
	Ready(ctx context.Context, session string) error
	// Owner returns the name of the browser that a session lives in, in letters and digits. It is empty for the only or first browser. It
	// is part of the IDs of the session's tabs.
	Owner(session string) string
	// OtherPages lists the pages of the default session's browser that are not ours. A browser that we started has none, and OtherPages
	// fails with an *apierr.Error of kind Invalid.
	OtherPages(ctx context.Context) ([]OtherPage, error)
}

// OtherPage is a page that the user of the browser has open.
type OtherPage struct {
	// ID is the browser's ID of the page, for PageOptions.TakeOver.
	ID, URL, Title string
}

// DefaultSession is the name of the session that always exists.
const DefaultSession = "default"

// PageOptions configures a page to open.
type PageOptions struct {
	// Session is the name of the page's session.
	Session string
	// Viewport is the size of the layout viewport. Zero selects the session's default.
	Viewport dom.Box
	// TakeOver is the ID of an OtherPage. If set, NewPage opens no page but takes that one over, with its size and its documents. It fails
	// with an *apierr.Error of kind NotFound if there is none, and of kind Unresponsive if the page does not answer.
	TakeOver string
}

// Popup is a page that another page opened.
type Popup struct {
	Page   Page
	Opener string
	// Session is the session of the opener.
	Session string
	// Bound reports whether the popup is about to load a document, so that its initial blank page is of no interest.
	Bound bool
}

// Page is one tab of the browser, as the actor uses it. All methods are safe for concurrent use and return when their context ends, even if
// the page hangs; the page may still carry out the request after that.
type Page interface {
	// ID returns the browser's ID of the page.
	ID() string
	// Events delivers the page's events, in the order in which the browser reported them. The channel is closed after a Gone event. The
	// reader must keep reading, because a page whose events are not read stalls.
	Events() <-chan Event
	// Log returns the console messages and requests of the page's documents. The Log is the same for the life of the page.
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
	Documents
	Freezer
	Tools
	// Guard sets a function that is called right before each command that acts on the page. If it returns an error, the command is not sent
	// and the call fails with that error. It must not block.
	Guard(check func() error)
	// TakenOver reports whether the page belongs to the user of the browser: it was taken over, or such a page opened it.
	TakenOver() bool
	// Close closes the page, even if it hangs, and returns when the browser has released it. A page that was taken over stays open. Close
	// undoes what we changed and returns it to the user.
	Close(ctx context.Context) error
}

// Observer reads the DOM of a page's documents and controls what they push.
type Observer interface {
	// Read sends every observed document the refs of its last patch and reads the changes after that patch. Patches that the page pushed
	// before are already in Events when Read returns. A document that waits for an acknowledgement that is not in req.Acks is not read, but
	// listed in ReadResult.Unacknowledged: take its patch from Events, then read again. If Read fails, no patch is lost; the next patch of
	// every requested document is a full one.
	Read(ctx context.Context, req ReadRequest) (ReadResult, error)
	// Prepare examines documents that were not read yet, without returning their content, so that the first Read is faster. It does not
	// block, and may do nothing.
	Prepare()
	// Acknowledge sends a document the refs of the elements in its last patch, in order, and so permits the next push. It does not block,
	// but takes effect before any later call. Repeated and late acknowledgements are ignored.
	Acknowledge(ack Ack)
	// Subscribe sets what all documents, present and future, push and report. It replaces the previous subscription. A document reports the
	// selectors once right after they were changed, and then when the result changes. A call that failed may have taken partial effect and
	// must be repeated. Setting the same subscription again is allowed.
	Subscribe(ctx context.Context, s Subscription) error
	// SetNoticeMode selects the documents that report what a person would notice during a call, and ends the reporting when the call ends.
	// NoticesReported events report it, at the latest before a Read returns. In documents that load during the call, everything counts as
	// new. It does not block, but takes effect before any later call.
	SetNoticeMode(ctx context.Context, n NoticeMode)
	// CollectNotices returns when NoticesReported events have reported all notices of the frames in the main process. If last is set, it
	// also ends the reporting.
	CollectNotices(ctx context.Context, last bool) error
}

// Query reads information from a page's documents.
type Query interface {
	// Markup returns the content of every observed document as a reader sees it, the main document first. Documents of frames that do not
	// answer are omitted. If root.Ref is not dom.NoRef, only the content of that element is returned.
	Markup(ctx context.Context, root Element) ([]Markup, error)
	// Find resolves a target that only the page can resolve (Target.InPage). Documents of frames that do not answer are omitted. Elements
	// that were not in the stored DOM become part of it with the next Read.
	Find(ctx context.Context, t target.Target) (target.Resolution, error)
	// Replaces reports whether an element may be a re-rendered version of another element that is gone. The old element must have left the
	// document, not only be hidden; the new one must have been added at that time or later; and both must have the same surrounding text.
	// It returns false for elements that the page does not know.
	Replaces(ctx context.Context, r Replacement) (bool, error)
	// Building reports whether the main document is still being built, as a person sees it: it shows a message such as "Loading…", or it
	// shows nothing yet although it loaded scripts or data. With report, a NoticesReported event carries that message.
	Building(ctx context.Context, report bool) (Building, error)
	// Extract runs a plan in the documents of the page and returns the result of each.
	Extract(ctx context.Context, e Extraction) ([]Extract, error)
	// Barriers finds accessibility barriers in every document, the main document first, and reads the web vitals of the main document.
	// Missing is the number of frames that did not answer.
	Barriers(ctx context.Context) (found []Audited, missing int, err error)
	// Evaluate runs a script in the page's main world. It fails with an *apierr.Error of kind Stale or NotFound; an exception of the script
	// is not a failure. When ctx ends the script is terminated.
	Evaluate(ctx context.Context, s Script) (Evaluated, error)
}

// Building is the state of a page that is being built.
type Building uint8

const (
	// Built means that the page shows its content.
	Built Building = iota
	// Blank means that the page shows nothing yet.
	Blank
	// Loading means that the page shows a loading message or a skeleton.
	Loading
)

// Navigator moves a page between documents.
type Navigator interface {
	// Navigate starts a navigation and returns when the browser has committed it or rejected it (an *apierr.Error of kind Navigation). Same
	// is true if only the fragment changed.
	Navigate(ctx context.Context, url string) (Commit, error)
	// Step moves in the history: -1 is back, 1 is forward. It fails with an *apierr.Error of kind NoHistory at the end of the history.
	Step(ctx context.Context, by int) (Commit, error)
	// Reload reloads the current document.
	Reload(ctx context.Context) (Commit, error)
	// Interrupt terminates the script that the page is running, if any. The page stays alive.
	Interrupt(ctx context.Context) error
	// Ping returns when the page's main thread answers.
	Ping(ctx context.Context) error
}

// Input acts on a page as a user does.
type Input interface {
	// Do performs one action, and only on the named element. It waits until the element can be acted on, for at most 2 seconds, or less if
	// ctx ends earlier. Problems with the element are reported as an *apierr.Error of kind Stale or NotActionable, and problems with the
	// action as kind Invalid. In all three cases the element was not acted on, unless the message says otherwise.
	Do(ctx context.Context, a Action) (DoResult, error)
	// ReleaseButton releases the button that a MouseDown left pressed, if it is still pressed. It does not block, but takes effect before
	// any later call.
	ReleaseButton(ctx context.Context)
	// SetActing announces that actions follow, or that they are over. Settle waits for the requests that the page makes after SetActing. It
	// does not block, but takes effect before any later call.
	SetActing(ctx context.Context, on bool)
	// Settle returns when the effects of an action in a frame have settled. The page has handled the input and reports no pending work. If
	// the page cannot report pending work, it must instead have produced a frame, and its DOM must not have changed for a moment; Settle
	// waits for this at most limit. A running navigation of the main frame has been committed or aborted. The requests that the page made
	// since SetActing have been answered; Settle waits at most 3 seconds for them, and half a second for the rest of a response that has
	// started. With timers, Settle also waits for at most half a second for timers that the page set while it handled the action, and for
	// the requests that these make. A NoticesReported event reports requests that are still unanswered when Settle returns.
	Settle(ctx context.Context, frame dom.FrameID, limit time.Duration, timers bool) error
	// AwaitWindows returns when the main thread is free and each window that the page has opened so far is a popup or was announced by
	// WindowsPending. A page that opens many windows needs time for each.
	AwaitWindows(ctx context.Context) error
	// Reveal scrolls an element into the middle of all scroll containers and frames around it, or to its start if it is larger than those.
	// It fails with an *apierr.Error of kind Stale.
	Reveal(ctx context.Context, e Element) error
}

// Capturer captures the rendering of a page.
type Capturer interface {
	// Screenshot takes a screenshot.
	Screenshot(ctx context.Context, s ScreenshotOptions) ([]byte, error)
	// Extent returns the box of the whole page, relative to the viewport and limited to what a screenshot can show, and the width of the
	// viewport without scrollbars that occupy space. All values are in CSS pixels.
	Extent(ctx context.Context) (whole dom.Box, width float64, err error)
	// Record captures the viewport whenever it changes, until ctx ends, and passes each frame to the function frame, which may return an
	// error to end the recording. It fails with an *apierr.Error of kind Exhausted while another recording of the page is running, and of
	// kind NotActionable in a session with masks.
	Record(ctx context.Context, r Recording, frame func(Frame) error) error
	// Print creates a PDF of the page.
	Print(ctx context.Context, p PrintOptions) ([]byte, error)
}

// Bodies reads response bodies.
type Bodies interface {
	// Body returns the decoded response body of a request, by the browser's request ID (pagelog.Detail.ID). The browser keeps bodies of at
	// most 1 MiB: the newest 2 MiB per renderer, and those in its memory cache. It fails with an *apierr.Error of kind NotFound if the
	// browser does not have the body (any more), and of kind NotActionable in a session with masks.
	Body(ctx context.Context, request string) ([]byte, error)
}

// Documents reads documents that are not HTML. It fails with an *apierr.Error of kind NotActionable in a session with masks, because
// nothing can be masked in them.
type Documents interface {
	// Downloaded returns the content of a complete download of the page's session, by driver.Download.Path. It fails with an *apierr.Error
	// of kind Exhausted if the file has more than limit bytes, and of kind NotFound if it is not on this machine (any more).
	Downloaded(ctx context.Context, path string, limit int) ([]byte, error)
	// PDF returns the text of a PDF with its positions, as untrusted JSON that package document reads. A document that cannot be opened is
	// described in the result. It takes at most 45 seconds, and then returns the pages that it has read.
	PDF(ctx context.Context, data []byte) ([]byte, error)
}

// Freezer stops an idle page.
type Freezer interface {
	// SetFrozen freezes or thaws a page. A frozen page is hidden and runs no tasks: no timers, no animations and no responses of servers,
	// including those in its frames and workers. It answers Read and Ping, and can be navigated and closed. A document that a frozen page
	// navigates to is frozen too. SetFrozen does not wait for the page. If it fails, the page may be in either state.
	SetFrozen(ctx context.Context, frozen bool) error
}

// Commit identifies the document that a navigation led to. Loaded events carry the same Document.
type Commit struct {
	Document string
	Same     bool
}
