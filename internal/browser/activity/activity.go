// Package activity counts what a page starts after an action. If it started nothing, the page settles immediately.
//
// An Activity never calls the browser; it only receives events. It is safe for concurrent use. Callers must pass it every event of the page
// as it arrives, and must call End after each Begin or series of them.
package activity

import (
	"sync/atomic"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/internal/browser/console"
)

// Activity counts, for one page, the starts of activities that may change the page later and that its documents cannot see: requests,
// WebSocket messages, navigations of any frame, and new frames. A URL change within a document is complete when it is reported, except for
// queued events, which the document sees. Activity counts events as they arrive, before they are queued. So when a call's response arrives,
// everything that the page sent before is counted.
type Activity struct {
	begun atomic.Uint64
	// before is the count at the start of the first action since the page last settled. acting is set if there was an action, and followed
	// if the observer follows the effects of all of them.
	before           atomic.Uint64
	acting, followed atomic.Bool
	// workers is set if the page has started workers, whose messages are not visible.
	workers atomic.Bool
}

// Begin records the start of an action, and whether it is followed. Several actions may start before the page settles.
func (a *Activity) Begin(followed bool) {
	if a.acting.Swap(true) {
		a.followed.Store(followed && a.followed.Load())
		return
	}
	a.Renew()
	a.followed.Store(followed)
}

// End records that the page is about to settle, and reports whether all actions since it last settled are followed.
func (a *Activity) End() (followed bool) {
	return a.acting.Swap(false) && a.followed.Load()
}

// Renew resets the count.
func (a *Activity) Renew() { a.before.Store(a.begun.Load()) }

// Any reports whether anything has started since. It also returns true if the page has a worker, which may act at any time.
func (a *Activity) Any() bool { return a.begun.Load() != a.before.Load() || a.workers.Load() }

// Committed records that the page has a new document, which ends its workers.
func (a *Activity) Committed() { a.workers.Store(false) }

// Arrived handles the method of an event.
func (a *Activity) Arrived(method string) {
	switch method {
	case "Network.webSocketFrameSent", "Network.webSocketCreated", cdppage.FrameAttached.Method, cdppage.FrameNavigated.Method,
		cdppage.FrameRequestedNavigation.Method, cdppage.FrameStartedNavigating.Method,
		cdppage.WindowOpen.Method, cdppage.JavascriptDialogOpening.Method:
		a.begun.Add(1)
	}
}

// Missed records that an event was dropped, which may have started a request.
func (a *Activity) Missed() { a.begun.Add(1) }

// Requested handles an event about a request. It does not count reports such as pings, because the page does not wait for their responses.
func (a *Activity) Requested(r console.Request) {
	kind := network.ResourceType(r.Type)
	if r.OfWorker() {
		a.workers.Store(true)
	}
	if r.Begun && kind != network.ResourceTypePing && kind != network.ResourceTypeCSPViolationReport {
		a.begun.Add(1)
	}
}
