package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

const (
	// queryLimit bounds how long the page may take to answer a query, however much time the caller has.
	queryLimit = 30 * time.Second
	// hungLimit replaces queryLimit if the page is already unresponsive when the query starts, so that a client that reads after an action
	// that hung the page gets its error soon.
	hungLimit = 5 * time.Second
	// queryPatience is the duration of a query after which a probe checks whether the page still answers.
	queryPatience = time.Second
)

// pump waits for the page or for events, and continues to handle events while it waits. Only calls use it, each through its Exclusive.
type pump struct{ t *loop }

// query queries the page for something that an open dialog would block. If the page does not answer and another call waits to navigate the
// tab elsewhere, the query fails immediately, because its document is about to go away. If the page was already unresponsive and does not
// answer within hungLimit, query fails with kind Unanswered. It returns the other errors of call.
func (p pump) query(ctx context.Context, work func(ctx context.Context) error) error {
	hung, limit := p.t.health.Unresponsive(), queryLimit
	if hung {
		limit = hungLimit
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeUp)
	defer cancel()
	err := p.yielding(bounded, work)
	if err != nil && hung && ctx.Err() == nil && bounded.Err() != nil {
		return apierr.Errorf(apierr.Unanswered, "the page of tab %s does not answer: %s", p.t.id, unresponsiveHint)
	}
	return err
}

// yielding is query without its limit.
func (p pump) yielding(ctx context.Context, work func(ctx context.Context) error) error {
	begun := time.Now()
	recheck := time.AfterFunc(queryPatience, p.t.requestPublish)
	defer recheck.Stop()
	var suspected [2]bool // one probe for this call, and another one if a navigation waits
	return p.call(ctx, func() error {
		if err := p.t.dialogs.Err(p.t.id); err != nil {
			return err
		}
		awaited := min(p.t.leaving.Load(), 1)
		if awaited > 0 && p.t.health.Unresponsive() {
			return apierr.Errorf(apierr.Aborted, "tab %s did not answer, and another call is navigating it: try again after that navigation", p.t.id)
		}
		if asked := &suspected[awaited]; !*asked && time.Since(begun) >= queryPatience {
			*asked = true
			p.t.prober.suspect()
		}
		return nil
	}, work)
}

// ErrTimeUp is the cause when the context of a call's work ends before the caller's context.
var ErrTimeUp = fmt.Errorf("the call timed out: %w", context.DeadlineExceeded)

// await handles events until a condition holds. It fails with the condition's error or with the cause of the context's end.
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

// call runs a call to the page outside the tab's goroutine, which continues to handle events. It fails when the call fails, when ctx ends,
// when the renderer crashes, or when stop is not nil and returns an error. If the page answers nevertheless, its answer counts. It always
// waits until work has returned, so work may write to the caller's variables.
func (p pump) call(ctx context.Context, stop func() error, work func(ctx context.Context) error) error {
	if stop != nil {
		if err := stop(); err != nil {
			return err // already stopped
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

// waitBeside handles events until a call is done. It returns the reason to end the call early, or nil when the call is done or ctx has
// ended.
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
