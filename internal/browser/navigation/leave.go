package navigation

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/dialogs"
	"github.com/domtap/domtap/internal/browser/frames"
)

// hangBreaker stops a page that blocks a navigation: it ends the page's script and, as a last resort, its renderer.
type hangBreaker struct {
	m       *frames.Manager
	dialogs *dialogs.Dialogs
	// State is guarded by the monitor.
	State State
}

// endHang ends the script of a page that does not respond, before the page is left. Within a site, the new document waits for the old one's
// main thread (limits.md, section 7). Once the browser has started to navigate, the old document is unreachable, and even its renderer
// cannot be ended. So endHang runs first. After one script ends, the next may hang, as in a page that opens one frame after another.
func (l *hangBreaker) endHang(ctx context.Context) error {
	l.m.Lock()
	down := l.State.Down()
	l.m.Unlock()
	if down {
		return nil // a crashed page cannot prevent the navigation
	}
	before := l.dialogs.Count()
	if within(ctx, patience, l.Ping) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.dialogs.Count()-before < dialogFlood {
		l.m.Logger.Warn("the page does not answer: its script is terminated before the navigation")
		if within(ctx, patience, l.Interrupt) && l.staysAlive(ctx) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	_ = l.endRenderer(ctx) // if this does not help, the navigation fails
	return ctx.Err()
}

// relapseLimit is how long a page is watched for another hanging script after one was ended.
const relapseLimit = 100 * time.Millisecond

// staysAlive reports whether a page whose script was ended responds, and still responds after relapse.
func (l *hangBreaker) staysAlive(ctx context.Context) bool {
	if !within(ctx, patience, l.Ping) {
		return false
	}
	timer := time.NewTimer(relapseLimit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return within(ctx, patience, l.Ping)
}

// within reports whether a call succeeds within a time limit.
func within(ctx context.Context, limit time.Duration, call func(context.Context) error) bool {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return call(bounded) == nil
}

// dialogFlood is the number of dialogs within patience at which a page counts as flooded with dialogs. The browser can then neither end its
// script nor leave it, because it waits for the page each time.
const dialogFlood = 10

// endRenderer ends the renderer of a page that cannot be left in any other way.
func (l *hangBreaker) endRenderer(ctx context.Context) error {
	l.m.Logger.Warn("the page still does not answer: its renderer is terminated")
	l.m.Lock()
	l.State.ExpectCrash()
	l.m.Unlock()
	l.m.Main.Post(ctx, cdppage.CommandCrash, nil)
	bounded, cancel := context.WithTimeout(ctx, departure)
	defer cancel()
	return l.m.Await(bounded, l.State.Down)
}

// errRendererEnded cancels a navigation attempt after the page's renderer was ended.
var errRendererEnded = errors.New("the renderer was terminated")

// departure is how long a page may take to be left before guard checks whether it responds.
const departure = 2 * time.Second

// maxEndings limits how many checks of guard end the page's script before the renderer is ended.
const maxEndings = 3

// guard monitors a page that is being left, until ctx ends.
func (l *hangBreaker) guard(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(departure)
	defer tick.Stop()
	for ended := 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if d, _ := l.dialogs.Open(); d.ID != 0 && d.Answer == driver.Unanswered {
			continue // an agent or user has to answer the dialog
		}
		alive := within(ctx, departure, l.Ping)
		if alive && ended == 0 && !l.overdue() {
			continue // the server is slow
		}
		// After one script ends another may start, repeatedly.
		if ended++; ended < maxEndings {
			_ = alive || within(ctx, patience, l.Interrupt)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if l.endRenderer(ctx) == nil {
			cancel(errRendererEnded)
			return
		}
		// On a busy machine, the crash may be reported later. Retry.
	}
}

// Interrupt ends the script that the page is running, if any; see driver.Navigator.
func (l *hangBreaker) Interrupt(ctx context.Context) error {
	_, err := cdp.Call(ctx, l.m.Main, runtime.TerminateExecution, cdp.Empty{})
	return err
}

// Ping returns when the page's main thread responds; see driver.Navigator.
func (l *hangBreaker) Ping(ctx context.Context) error {
	_, err := cdp.Call(ctx, l.m.Main, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"})
	if err != nil {
		return l.m.Failed(err)
	}
	return nil
}

// overdue reports whether the page still blocks a document that the browser has received.
func (l *hangBreaker) overdue() bool {
	l.m.Lock()
	defer l.m.Unlock()
	return l.State.Overdue(time.Now())
}

// receive records when the browser received the pending document. The zero time means that it has not been received.
func (l *hangBreaker) receive(at time.Time) {
	l.m.Lock()
	defer l.m.Unlock()
	l.State.Receive(at)
}
