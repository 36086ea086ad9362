package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/domtap/domtap/actor/apierr"
)

// command is a call in the mailbox.
type command struct {
	// ctx is the caller's context.
	ctx context.Context
	run func(ctx context.Context, x *Exclusive)
}

// Tracer traces the turns of tabs. Its methods are called from many goroutines and must not block.
type Tracer interface {
	// Turn reports that a call waits for its turn on a tab. The caller calls begun when the turn starts, unless the call has already ended,
	// and end when the call has ended. The number of different turn names is small. The context is the caller's.
	Turn(ctx context.Context, what, tab string) (begun func(), end func(error))
}

// Command describes a call of Do.
type Command struct {
	// Name names the call in errors and traces. The number of different names is small.
	Name string
	// ReadOnly reports that the call does not change the page. Any other call invalidates earlier reads, so they no longer serve callers
	// that accept an older answer (ReadOptions.MaxAge).
	ReadOnly bool
	// Leaves reports that the call navigates the tab elsewhere. A query that the page does not answer is then aborted.
	Leaves bool
	// URL is the target of the navigation, if known. The URL policy checks it before the call waits.
	URL string
}

// Do runs work on the tab's goroutine, with exclusive access to the tab. It returns when work has returned, when ctx ends, or when the tab
// ends. The context of work derives from the tab's context and also ends with the caller's. Work may still run after Do has returned, so it
// must pass its findings as its result and not write to variables of its caller.
func Do[T any](ctx context.Context, t *Tab, c Command, work func(ctx context.Context, x *Exclusive) (T, error)) (T, error) {
	var none T
	if err := rejectPast(t, Moment{}); err != nil {
		return none, err
	}
	if c.URL != "" {
		if err := t.policy.allow(c.URL); err != nil {
			return none, err
		}
	}
	if c.Leaves {
		t.leaving.Add(1)
		begun := sync.OnceFunc(func() { t.leaving.Add(-1) })
		defer begun()
		t.requestPublish()
		work = after(begun, work)
	}
	if t.tracer == nil {
		return enqueue(ctx, t, c, work)
	}
	begun, end := t.tracer.Turn(ctx, c.Name, t.id)
	value, err := enqueue(ctx, t, c, after(begun, work))
	end(err)
	return value, err
}

// after returns work preceded by a call of first.
func after[T any](first func(), work func(context.Context, *Exclusive) (T, error)) func(context.Context, *Exclusive) (T, error) {
	return func(ctx context.Context, x *Exclusive) (T, error) {
		first()
		return work(ctx, x)
	}
}

// enqueue puts work into the mailbox and waits for its result.
func enqueue[T any](ctx context.Context, t *Tab, c Command, work func(ctx context.Context, x *Exclusive) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	answers := make(chan answer, 1)
	generation := t.recovery.Generation()
	queued := command{ctx: ctx, run: func(ctx context.Context, x *Exclusive) {
		if err := t.checkGeneration(generation); err != nil {
			answers <- answer{err: err}
			return
		}
		if !c.ReadOnly {
			if err := t.policy.acts(); err != nil {
				answers <- answer{err: err}
				return
			}
			t.lastRead.Store(nil)
		}
		value, err := work(ctx, x)
		if gone := t.checkGeneration(generation); err != nil && gone != nil && ctx.Err() == nil {
			err = gone // replaces any other error of the call
		}
		answers <- answer{value, err}
	}}
	if t.ctx.Err() != nil {
		return none, t.ended()
	}
	if err := ctx.Err(); err != nil {
		return none, t.explain(ctx, c.Name, err)
	}
	if err := t.checkGeneration(generation); err != nil {
		return none, err
	}
	select {
	case t.mailbox <- queued:
	default:
		return none, apierr.Exceeded("mailbox", cap(t.mailbox), "tab %s has %d calls waiting: wait for one to end, then try again, or raise --mailbox of domtap serve", t.id, cap(t.mailbox))
	}
	select {
	case a := <-answers:
		return a.value, t.explain(ctx, c.Name, a.err)
	case <-ctx.Done():
		return none, t.explain(ctx, c.Name, ctx.Err())
	case <-t.done:
		return none, t.ended()
	}
}

// explain converts the error that ended a call into the caller's error.
func (t *Tab) explain(ctx context.Context, what string, err error) error {
	var e *apierr.Error
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return t.ended()
	case errors.As(err, &e):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, ErrTimeUp):
		return fmt.Errorf("%s on tab %s timed out; the tab stays usable: try again with a longer timeout, navigate elsewhere, or close the tab: %w",
			what, t.id, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return fmt.Errorf("%s on tab %s was cancelled: %w", what, t.id, ctx.Err())
	}
	return fmt.Errorf("%s on tab %s: %w", what, t.id, err)
}
