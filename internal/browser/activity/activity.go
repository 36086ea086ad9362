// Package activity counts what a page begins after an action: whether anything was begun decides whether the page settles at once.
//
// An Activity asks the browser nothing: events go in. It is safe for concurrent use. Callers owe it every event of the page as it
// arrives, and End for every Begin or series of them.
package activity

import (
	"sync/atomic"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/internal/browser/console"
)

// Activity counts, for one page, what begins that may change it later, and that its documents do not see: requests, messages over web
// sockets, navigations of any frame, and new frames. A change of the URL within a document is over when it is reported, but for
// events that are queued, which the document sees. Activity counts as events arrive, before they wait in the queue, so what the
// page sent before the answer of a call is counted by then.
type Activity struct {
	begun atomic.Uint64
	// before is the count when the first action began since the page settled. acting says that there was one, and followed
	// that the observer follows what all of them set off.
	before           atomic.Uint64
	acting, followed atomic.Bool
	// workers says that the page has begun workers, whose messages nobody sees.
	workers atomic.Bool
}

// Begin notes that an action begins, and whether it is followed. Several actions may begin before the page is to settle.
func (a *Activity) Begin(followed bool) {
	if a.acting.Swap(true) {
		a.followed.Store(followed && a.followed.Load())
		return
	}
	a.Renew()
	a.followed.Store(followed)
}

// End notes that the page is to settle, and reports whether the actions since it settled last are followed.
func (a *Activity) End() (followed bool) {
	return a.acting.Swap(false) && a.followed.Load()
}

// Renew forgets what was begun so far.
func (a *Activity) Renew() { a.before.Store(a.begun.Load()) }

// Any reports whether anything was begun since, or a worker ever, which may do what it does at any time.
func (a *Activity) Any() bool { return a.begun.Load() != a.before.Load() || a.workers.Load() }

// Committed notes that the page has another document; its workers end.
func (a *Activity) Committed() { a.workers.Store(false) }

// Arrived takes in the method of an event.
func (a *Activity) Arrived(method string) {
	switch method {
	case "Network.webSocketFrameSent", "Network.webSocketCreated", cdppage.FrameAttached.Method, cdppage.FrameNavigated.Method,
		cdppage.FrameRequestedNavigation.Method, cdppage.FrameStartedNavigating.Method,
		cdppage.WindowOpen.Method, cdppage.JavascriptDialogOpening.Method:
		a.begun.Add(1)
	}
}

// Missed notes that an event was left out, which may have been the beginning of a request.
func (a *Activity) Missed() { a.begun.Add(1) }

// Requested takes in what an event says of a request. Reports that the page sends about itself, and waits for no answer to, are none.
func (a *Activity) Requested(r console.Request) {
	kind := network.ResourceType(r.Type)
	if r.OfWorker() {
		a.workers.Store(true)
	}
	if r.Begun && kind != network.ResourceTypePing && kind != network.ResourceTypeCSPViolationReport {
		a.begun.Add(1)
	}
}
