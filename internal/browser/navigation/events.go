package navigation

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// stopGrace is how long a navigation that stopped without a document still counts as in progress. The browser may report within this time
// that it has become a download.
const stopGrace = 150 * time.Millisecond

const (
	// arrivalLimit bounds how long AwaitArrival waits for a navigation that an action started, and for all windows together. windowLimit
	// bounds the wait for the next window, which a remote browser may refuse to open.
	arrivalLimit = 10 * time.Second
	windowLimit  = 3 * time.Second
)

// Change changes the state and wakes all waiters.
func (n *Navigator) Change(change func(*State)) {
	n.m.Lock()
	defer n.m.Unlock()
	change(&n.State)
	n.m.Notify()
}

// FrameDeparted records that a frame has started to navigate.
func (n *Navigator) FrameDeparted(id cdp.FrameID) {
	if n.m.Tree.IsMain(id) {
		n.Change((*State).Departed)
	}
}

// FrameStopped records that a frame has stopped navigating or has loaded its document.
func (n *Navigator) FrameStopped(id cdp.FrameID) {
	if !n.m.Tree.IsMain(id) {
		return
	}
	n.Change(func(s *State) {
		departure, was := s.Stopped()
		if was {
			n.m.Tasks.Go(func() { n.giveUp(departure) })
		}
	})
}

// giveUp ends a navigation that stopped without a document, unless another one has started.
func (n *Navigator) giveUp(departure int) {
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.m.Life.Done():
	}
	n.Change(func(s *State) { s.GiveUp(departure) })
}

// Rewritten records the URL that a route redirects a document's request to. An empty URL means that the request is unchanged. It runs on
// the page's loop.
func (n *Navigator) Rewritten(document, url string) { n.rewritten = rewrite{document, url} }

// Refuse records the URL policy's verdict on a document's URL, and on the URL that a route redirected its request to. It runs on the page's
// loop, before the document is committed.
func (n *Navigator) Refuse(document, url string) {
	if n.verdict == nil {
		return
	}
	var why *apierr.Error
	if r := n.rewritten; r.document == document && r.url != "" {
		why = n.verdict(r.url)
	}
	if why == nil {
		why = n.verdict(url)
	}
	n.m.Lock()
	defer n.m.Unlock()
	n.State.Refuse(document, why)
}

// Refused returns why the URL policy refused a document, or nil.
func (n *Navigator) Refused(document string) *apierr.Error {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Refused(document)
}

// awaitRefusal returns why the URL policy refused a navigation that failed with a network error, or nil. It waits for the browser's error
// page, which reveals the final URL. The error page always appears, unless the navigation was aborted.
func (n *Navigator) awaitRefusal(ctx context.Context, document, failure string) *apierr.Error {
	if n.verdict == nil {
		return nil
	}
	limit := arrivalLimit
	if failure == aborted {
		limit = patience
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = n.m.Await(bounded, func() bool { return n.m.Tree.Main().Document == document })
	return n.Refused(document)
}

// Going reports whether AwaitArrival would wait for a navigation or a window.
func (n *Navigator) Going() bool {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Navigating() || n.State.Opening()
}

// AwaitArrival waits, for a bounded time, for the navigation and the windows that an action started.
func (n *Navigator) AwaitArrival(ctx context.Context) error {
	if err := n.awaitFor(ctx, arrivalLimit, func() bool { return !n.State.Navigating() }); err != nil {
		return err
	}
	return n.AwaitWindows(ctx)
}

// AwaitWindows waits for new windows as long as they keep arriving: a page may open many, and a busy browser needs time for each. If some
// are still missing in the end, AwaitWindows emits driver.WindowsPending, and later calls do not wait for these windows.
func (n *Navigator) AwaitWindows(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, arrivalLimit)
	defer cancel()
	for {
		seen, opening := n.windows()
		if !opening {
			return nil
		}
		err := n.awaitFor(bounded, windowLimit, func() bool { return !n.State.Opening() || n.State.Arrivals() != seen })
		if ctx.Err() != nil {
			return err
		}
		if now, _ := n.windows(); err != nil || now == seen {
			break
		}
	}
	late := 0
	n.Change(func(s *State) { late = s.GiveUpWindows() })
	if late > 0 {
		n.m.Emit(driver.WindowsPending{Count: late})
	}
	return nil
}

// windows returns how many windows have arrived, and whether some are still awaited.
func (n *Navigator) windows() (arrivals int, opening bool) {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Arrivals(), n.State.Opening()
}

// awaitFor waits for at most limit. Reaching the limit is not an error.
func (n *Navigator) awaitFor(ctx context.Context, limit time.Duration, ready func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := n.m.Await(bounded, ready); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// Down reports whether the page's renderer is gone.
func (n *Navigator) Down() bool {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Down()
}

// WindowBound reports whether the oldest window that the page has opened will load a document of its own.
func (n *Navigator) WindowBound() bool {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.WindowBound()
}
