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

// pulse is how long after one answer the page is asked for the next sign of life while it is acted on.
const pulse = 250 * time.Millisecond

// Liveness watches over the page while a turn acts on it: an action whose page stops answering fails at once, whatever time
// its caller has. Only the tab's goroutine touches it.
type Liveness struct {
	t *loop
	// signs is nil while no turn acts.
	signs *heartbeat.Monitor
	// hung says that the page stopped answering since the turn began to act.
	hung bool
	// commits is the count of the documents when the action began.
	commits int
	// read is how long the page took to be read last, by its own account.
	read time.Duration
}

// Watch begins to watch over the page, until the returned function is called.
func (l *Liveness) Watch() (end func()) {
	t := l.t
	one := &heartbeat.Monitor{}
	l.signs, l.hung = one, false
	l.Begin()
	page := t.page()
	ctx, cancel := context.WithCancel(t.ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for retry.Pause(ctx, pulse) == nil {
			bound, period := one.Current()
			if bound > 0 && one.Report(period, !lives(ctx, page, bound)) {
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

// Begin says that an action begins.
func (l *Liveness) Begin() {
	l.commits = l.t.commits()
	l.expect()
}

// expect begins to expect signs of life anew: of another document, or when a dialog is gone. It does nothing while no turn acts.
func (l *Liveness) expect() {
	if l.signs == nil {
		return
	}
	l.signs.Expect(heartbeat.Bound(l.read, l.t.commits() != l.commits))
}

// Suspend runs work that leads to another document, which need not answer meanwhile.
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

// lives reports whether the page gives a sign of life within a bound. An error is one, too: the page is being replaced, or is gone.
func lives(ctx context.Context, page driver.Page, bound time.Duration) bool {
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return page.Ping(bounded) == nil || bounded.Err() == nil || ctx.Err() != nil
}

// Silent reports whether the page does not answer while it is acted on. Behind a dialog it cannot.
func (l *Liveness) Silent() bool {
	one := l.signs
	return one != nil && l.t.dialogs.Open() == nil && one.Missed()
}

// Stop notes that the page hangs and returns the error of what it was to do.
func (l *Liveness) Stop() error {
	if !l.hung {
		l.t.log.Info("the page stopped answering while it was acted on")
	}
	l.hung = true
	l.t.health.Hangs()
	l.t.prober.suspect()
	return l.silence("the page of tab "+l.t.id+" stopped answering", "")
}

// silence makes an error of a page that does not answer; more says what of an action was done.
func (l *Liveness) silence(what, more string) error {
	return &apierr.Error{Kind: apierr.Unresponsive, Message: what + more + ": " + untilReady}
}

// untilReady is what to do about a page that does not answer.
const untilReady = "wait until GetTab says READY and read the page, or navigate the tab elsewhere"

// During says of the error of a page that stopped answering when it did so.
func (l *Liveness) During(err error, what, more string) error {
	if !apierr.Is(err, apierr.Unresponsive) || !l.hung { // it may be a frame alone that hangs
		return err
	}
	return l.silence("the page of tab "+l.t.id+" stopped answering "+what, more)
}

// Hung reports whether the page stopped answering since the call began to act.
func (l *Liveness) Hung() bool { return l.hung }
