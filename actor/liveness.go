package actor

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/heartbeat"
	"github.com/domtap/domtap/internal/retry"
)

// livenessInterval is the delay between a page's answer and the next liveness check while a call acts on the page.
const livenessInterval = 250 * time.Millisecond

// Liveness monitors the page while a turn acts on it. If the page stops answering, the action fails immediately, however much time its
// caller has left. Only the tab's goroutine uses it.
type Liveness struct {
	t *loop
	// signs is nil while no turn acts on the page.
	signs *heartbeat.Monitor
	// hung reports whether the page has stopped answering since the turn started to act.
	hung bool
	// commits is the number of main documents at the start of the action.
	commits int
	// read is how long the last read took, as measured by the page.
	read time.Duration
}

// Watch monitors the page until the returned function is called.
func (l *Liveness) Watch() (end func()) {
	t := l.t
	one := &heartbeat.Monitor{}
	l.signs, l.hung = one, false
	l.Begin()
	page := t.page()
	ctx, cancel := context.WithCancel(t.ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for retry.Pause(ctx, livenessInterval) == nil {
			bound, period := one.Current()
			if bound > 0 && one.Report(period, !answersWithin(ctx, page, bound)) {
				t.requestPublish()
			}
		}
	})
	return func() {
		cancel()
		watcher.Wait()
		l.signs, l.hung = nil, false
	}
}

// Begin marks the start of an action.
func (l *Liveness) Begin() {
	l.commits = l.t.commits()
	l.expect()
}

// expect restarts the wait for a sign of life, because another document was committed or a dialog closed. It does nothing while no turn
// acts.
func (l *Liveness) expect() {
	if l.signs == nil {
		return
	}
	l.signs.Expect(heartbeat.Bound(l.read, l.t.commits() != l.commits))
}

// Suspend runs work that leads to another document, and suspends the monitor because the page need not answer during it.
func (l *Liveness) Suspend(work func() error) error {
	one := l.signs
	if one == nil {
		return work()
	}
	l.signs = nil
	one.Expect(0)
	defer func() {
		l.signs = one
		l.Begin()
	}()
	return work()
}

// answersWithin reports whether the page answers within a bound. An error counts as an answer, because the page is being replaced or is
// gone.
func answersWithin(ctx context.Context, page driver.Page, bound time.Duration) bool {
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return page.Ping(bounded) == nil || bounded.Err() == nil || ctx.Err() != nil
}

// Silent reports whether the page does not answer while a call acts on it. A page behind a dialog is never silent, because it cannot
// answer.
func (l *Liveness) Silent() bool {
	one := l.signs
	return one != nil && l.t.dialogs.Open() == nil && one.Missed()
}

// Stop marks the page as hung and returns the error for the current action.
func (l *Liveness) Stop() error {
	if !l.hung {
		l.t.log.Info("the page stopped answering while it was acted on")
	}
	l.hung = true
	l.t.health.Hangs()
	l.t.prober.suspect()
	return l.unresponsiveError("the page of tab "+l.t.id+" stopped answering", "")
}

// unresponsiveError returns the error for a page that does not answer. more describes how much of the action was done.
func (l *Liveness) unresponsiveError(what, more string) error {
	return &apierr.Error{Kind: apierr.Unresponsive, Message: what + more + ": " + unresponsiveHint}
}

// unresponsiveHint tells callers how to proceed after a page has stopped answering.
const unresponsiveHint = "wait until GetTab says READY and read the page, or navigate the tab elsewhere"

// During adds to the error of a hung page at which point of the action it stopped answering. It returns other errors unchanged.
func (l *Liveness) During(err error, what, more string) error {
	if !apierr.Is(err, apierr.Unresponsive) || !l.hung { // possibly only a frame hangs
		return err
	}
	return l.unresponsiveError("the page of tab "+l.t.id+" stopped answering "+what, more)
}

// Hung reports whether the page has stopped answering since the call started to act.
func (l *Liveness) Hung() bool { return l.hung }
