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
	// hungLimit replaces queryLimit when the page is known not to answer as the query begins, so that a client that reads after an
	// action that hung the page gets its error soon.
	hungLimit = 5 * time.Second
	// queryPatience is how long a query may take until it is asked whether the page answers at all.
	queryPatience = time.Second
)

// pump waits for the page, and for what happens, and goes on handling events meanwhile. Calls alone use it, each by its Exclusive.
type pump struct{ t *loop }

// query asks the page for something that a dialog would keep it from telling. When the page does not answer, and a call waits
// that navigates the tab elsewhere, the query ends at once: what it asks for is about to go away. A page that was known not to answer,
// and does not within hungLimit, is the error Unanswered. Other errors are those of call.
func (p pump) query(ctx context.Context, work func(ctx context.Context) error) error {
	hung, limit := p.t.health.Unresponsive(), queryLimit
	if hung {
		limit = hungLimit
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeUp)
	defer cancel()
	err := p.yielding(bounded, work)
	if err != nil && hung && ctx.Err() == nil && bounded.Err() != nil {
		return apierr.Errorf(apierr.Unanswered, "the page of tab %s does not answer: %s", p.t.id, untilReady)
	}
	return err
}

// yielding is query without its limit.
func (p pump) yielding(ctx context.Context, work func(ctx context.Context) error) error {
	begun := time.Now()
	recheck := time.AfterFunc(queryPatience, p.t.requestPublish)
	defer recheck.Stop()
	var suspected [2]bool // once in any case, and once more for who waits
	return p.call(ctx, func() error {
		if err := p.t.dialogs.Err(p.t.id); err != nil {
			return err
		}
		awaited := min(p.t.leaving.Load(), 1)
		if awaited > 0 && p.t.health.Unresponsive() {
			return apierr.Errorf(apierr.Aborted, "tab %s did not answer, and another call navigates it elsewhere: try again when that has ended", p.t.id)
		}
		if asked := &suspected[awaited]; !*asked && time.Since(begun) >= queryPatience {
			*asked = true
			p.t.prober.suspect()
		}
		return nil
	}, work)
}

// ErrTimeUp is why the context of a call's work ends before the caller's does.
var ErrTimeUp = fmt.Errorf("the call's time is up: %w", context.DeadlineExceeded)

// await handles what happens until a condition holds. It fails with the condition's error or with the
// cause of the context's end.
func (p pump) await(ctx context.Context, until func() (bool, error)) error {
	for {
		if met, err := until(); met || err != nil {
			return err
		}
		if !p.t.step(ctx, nil, false) {
			return context.Cause(ctx)
		}
		p.t.publisher.publish()
	}
}

// call runs a call to the page beside the tab's goroutine, which goes on handling what happens. It
// fails when the call does, when ctx ends, when the renderer crashes, or when stop, if any, gives an
// error; but what the page did answer in the end counts. It always waits until work has returned, so
// that work may write to the caller's variables.
func (p pump) call(ctx context.Context, stop func() error, work func(ctx context.Context) error) error {
	if stop != nil {
		if err := stop(); err != nil {
			return err // there already
		}
	}
	if p.t.liveness.hung {
		return p.t.liveness.Stop()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = work(inner)
	}()
	stopped := p.waitBeside(ctx, done, stop)
	cancel()
	for p.t.step(context.WithoutCancel(ctx), done, false) {
		p.t.publisher.publish()
	}
	switch {
	case err == nil:
		return nil
	case stopped != nil:
		return stopped
	case ctx.Err() != nil:
		p.t.prober.suspect()
		return context.Cause(ctx)
	}
	return err
}

// waitBeside handles what happens until a call is done, and returns why the call must end before; nil when it is done, or ctx has ended.
func (p pump) waitBeside(ctx context.Context, done <-chan struct{}, stop func() error) (stopped error) {
	crashes := p.t.health.Crashes()
	for stopped == nil && p.t.step(ctx, done, false) {
		p.t.publisher.publish()
		if p.t.health.Crashes() != crashes {
			stopped = p.t.crashErr()
		} else if stop != nil {
			stopped = stop()
		}
		if stopped == nil && p.t.liveness.Silent() {
			stopped = p.t.liveness.Stop()
		}
	}
	return stopped
}
