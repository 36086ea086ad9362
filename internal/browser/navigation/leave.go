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

// leaver ends what keeps a page that is to be left: its script, and at last its renderer.
type leaver struct {
	m       *frames.Manager
	dialogs *dialogs.Dialogs
	// State is guarded by the monitor.
	State State
}

// endHang ends the script of a page that is to be left but does not answer. Within a site the new
// document waits for the old one's main thread (limits.md, section 7), and once the browser has begun
// to navigate, the old document can no longer be reached, not even to end its renderer: so this comes first. Where one
// script ends the next may hang, as in a page that opens one frame after the other.
func (l *leaver) endHang(ctx context.Context) error {
	l.m.Lock()
	down := l.State.Down()
	l.m.Unlock()
	if down {
		return nil // nobody is there who could keep us
	}
	before := l.dialogs.Count()
	if within(ctx, patience, l.Ping) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.dialogs.Count()-before < storm {
		l.m.Logger.Warn("the page does not answer: its script is ended before it is left")
		if within(ctx, patience, l.Interrupt) && l.staysAlive(ctx) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	_ = l.endRenderer(ctx) // if that does not help, the navigation tells
	return ctx.Err()
}

// relapse is how long a page whose script was ended is watched for the next one that hangs.
const relapse = 100 * time.Millisecond

// staysAlive reports whether a page whose script was ended answers, and goes on answering.
func (l *leaver) staysAlive(ctx context.Context) bool {
	if !within(ctx, patience, l.Ping) {
		return false
	}
	timer := time.NewTimer(relapse)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return within(ctx, patience, l.Ping)
}

// within reports whether a call is answered in time.
func within(ctx context.Context, limit time.Duration, call func(context.Context) error) bool {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return call(bounded) == nil
}

// storm is how many dialogs within patience say that a page does nothing but open them. The browser can then neither
// end its script nor leave it: it waits for the page each time.
const storm = 10

// endRenderer ends the renderer of a page that is to be left and can be left in no other way.
func (l *leaver) endRenderer(ctx context.Context) error {
	l.m.Logger.Warn("the page cannot be left otherwise: its renderer is ended")
	l.m.Lock()
	l.State.Sacrifice()
	l.m.Unlock()
	l.m.Main.Post(ctx, cdppage.CommandCrash, nil)
	bounded, cancel := context.WithTimeout(ctx, departure)
	defer cancel()
	return l.m.Await(bounded, l.State.Down)
}

// errRendererEnded ends an attempt to leave a page whose renderer had to be ended for it.
var errRendererEnded = errors.New("the renderer was ended")

// departure is how long a page may take to be left before it is asked whether it lives.
const departure = 2 * time.Second

// maxEndings is how often the script of a page is ended while it is left, before its renderer is.
const maxEndings = 3

// guard watches over a page that is being left, until ctx ends.
func (l *leaver) guard(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(departure)
	defer tick.Stop()
	for ended := 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if d, _ := l.dialogs.Open(); d.ID != 0 && d.Answer == driver.Unanswered {
			continue // somebody is asked
		}
		alive := within(ctx, departure, l.Ping)
		if alive && ended == 0 && !l.overdue() {
			continue // a server takes its time
		}
		// Where one script ends another may begin, again and again.
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
		// A busy machine takes longer than that to tell: ask again.
	}
}

// Interrupt ends the script that the page is running, if any; see driver.Navigator.
func (l *leaver) Interrupt(ctx context.Context) error {
	_, err := cdp.Call(ctx, l.m.Main, runtime.TerminateExecution, cdp.Empty{})
	return err
}

// Ping returns when the page's main thread answers; see driver.Navigator.
func (l *leaver) Ping(ctx context.Context) error {
	_, err := cdp.Call(ctx, l.m.Main, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"})
	if err != nil {
		return l.m.Failed(err)
	}
	return nil
}

// overdue reports whether the page does not give way to the document that the browser has received.
func (l *leaver) overdue() bool {
	l.m.Lock()
	defer l.m.Unlock()
	return l.State.Overdue(time.Now())
}

// receive notes that the browser has received the document that is to come, or with the zero time that it has not.
func (l *leaver) receive(at time.Time) {
	l.m.Lock()
	defer l.m.Unlock()
	l.State.Receive(at)
}
