package navigation

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// stopGrace is how long a navigation that stopped without a document counts as one that goes on: the browser says a moment
// later that it has become a download.
const stopGrace = 150 * time.Millisecond

const (
	// arrivalLimit bounds how long AwaitArrival waits for a navigation that an action set off, and for all of its windows;
	// windowLimit how long for the next window, which a browser of somebody else may refuse to open.
	arrivalLimit = 10 * time.Second
	windowLimit  = 3 * time.Second
)

// Change changes the state and wakes all waits.
func (n *Navigator) Change(change func(*State)) {
	n.m.Lock()
	defer n.m.Unlock()
	change(&n.State)
	n.m.Notify()
}

// FrameDeparted takes in that a frame is on its way to another document.
func (n *Navigator) FrameDeparted(id cdp.FrameID) {
	if n.m.Tree.IsMain(id) {
		n.Change((*State).Departed)
	}
}

// FrameStopped takes in that a frame is on its way no longer, or has loaded its document.
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

// giveUp ends a navigation that stopped without a document, unless another began since.
func (n *Navigator) giveUp(departure int) {
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.m.Life.Done():
	}
	n.Change(func(s *State) { s.GiveUp(departure) })
}

// Rewritten notes the URL that a route sends the request for a document to; empty: the URL that the browser asked for. It runs on the
// page's loop.
func (n *Navigator) Rewritten(document, url string) { n.rewritten = rewrite{document, url} }

// Refuse notes what the URL policy says of the URL of a document, and of the URL that a route sent the request to. It runs on the page's
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

// Refused returns why a document did not come, or nil.
func (n *Navigator) Refused(document string) *apierr.Error {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Refused(document)
}

// awaitRefusal is Refused for a navigation that failed with an error of the network, once the browser's error page says where
// the navigation had led to. The error page always comes, unless the navigation was aborted.
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

// Going reports whether a navigation or a window is waited for by AwaitArrival.
func (n *Navigator) Going() bool {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Navigating() || n.State.Opening()
}

// AwaitArrival waits for the navigation and the windows that an action set off, but not for ever.
func (n *Navigator) AwaitArrival(ctx context.Context) error {
	if err := n.awaitFor(ctx, arrivalLimit, func() bool { return !n.State.Navigating() }); err != nil {
		return err
	}
	return n.AwaitWindows(ctx)
}

// AwaitWindows waits for the windows for as long as one arrives after the other: a page may open many, and a busy browser takes
// its time for each. When windows are still on their way then, AwaitWindows emits driver.WindowsLate, and nobody waits for
// these again.
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
		n.m.Emit(driver.WindowsLate{Count: late})
	}
	return nil
}

// windows returns how many windows have arrived, and whether any is waited for.
func (n *Navigator) windows() (arrivals int, opening bool) {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.Arrivals(), n.State.Opening()
}

// awaitFor waits at most for limit, whose end is not an error.
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

// WindowBound reports whether the oldest window that the page has opened is to show a document of its own.
func (n *Navigator) WindowBound() bool {
	n.m.Lock()
	defer n.m.Unlock()
	return n.State.WindowBound()
}
