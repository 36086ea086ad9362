package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

const (
	// queryLimit is how long the page may take to answer a query, however much time the caller has.
	queryLimit = 30 * time.Second
	// queryPatience is how long a query may take until it is asked whether the page answers at all.
	queryPatience = time.Second
)

// query asks the page for something that a dialog would keep it from telling. When the page does not answer, and a call waits
// that navigates the tab elsewhere, the query ends at once: what it asks for is about to go away. Other errors are those of call.
func (t *loop) query(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, queryLimit, ErrTimeUp)
	defer cancel()
	return t.yielding(ctx, work)
}

// yielding is query without its limit.
func (t *loop) yielding(ctx context.Context, work func(ctx context.Context) error) error {
	begun := time.Now()
	nudge := time.AfterFunc(queryPatience, t.stir)
	defer nudge.Stop()
	var suspected [2]bool // once in any case, and once more for who waits
	return t.call(ctx, func() error {
		if err := t.dialogs.Err(t.id); err != nil {
			return err
		}
		awaited := min(t.leavers.Load(), 1)
		if awaited > 0 && t.health.Unresponsive() {
			return apierr.Errorf(apierr.Aborted, "tab %s did not answer, and another call navigates it elsewhere: try again when that has ended", t.id)
		}
		if asked := &suspected[awaited]; !*asked && time.Since(begun) >= queryPatience {
			*asked = true
			t.prober.suspect()
		}
		return nil
	}, work)
}

// ErrTimeUp is why the context of a call's work ends before the caller's does.
var ErrTimeUp = fmt.Errorf("the call's time is up: %w", context.DeadlineExceeded)

// await handles what happens until a condition holds. It fails with the condition's error or with the
// cause of the context's end.
func (t *loop) await(ctx context.Context, until func() (bool, error)) error {
	for {
		if met, err := until(); met || err != nil {
			return err
		}
		if !t.step(ctx, nil, false) {
			return context.Cause(ctx)
		}
		t.publish()
	}
}

// call runs a call to the page beside the tab's goroutine, which goes on handling what happens. It
// fails when the call does, when ctx ends, when the renderer crashes, or when stop, if any, gives an
// error; but what the page did answer in the end counts. It always waits until work has returned, so
// that work may write to the caller's variables.
func (t *loop) call(ctx context.Context, stop func() error, work func(ctx context.Context) error) error {
	if stop != nil {
		if err := stop(); err != nil {
			return err // there already
		}
	}
	if t.liveness.hung {
		return t.liveness.Stop()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = work(inner)
	}()
	stopped := t.beside(ctx, done, stop)
	cancel()
	for t.step(context.WithoutCancel(ctx), done, false) {
		t.publish()
	}
	switch {
	case err == nil:
		return nil
	case stopped != nil:
		return stopped
	case ctx.Err() != nil:
		t.prober.suspect()
		return context.Cause(ctx)
	}
	return err
}

// beside handles what happens until a call is done, and returns why the call must end before; nil when it is done, or ctx has ended.
func (t *loop) beside(ctx context.Context, done <-chan struct{}, stop func() error) (stopped error) {
	crashes := t.health.Crashes()
	for stopped == nil && t.step(ctx, done, false) {
		t.publish()
		if t.health.Crashes() != crashes {
			stopped = t.crashErr()
		} else if stop != nil {
			stopped = stop()
		}
		if stopped == nil && t.liveness.Silent() {
			stopped = t.liveness.Stop()
		}
	}
	return stopped
}
