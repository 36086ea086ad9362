package turn

import (
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// WaitStep lets a turn wait between its actions; the tab does nothing else meanwhile.
type WaitStep struct {
	// Options is what the page must tell, from the start of the turn on.
	Options actor.WatchOptions
	// Timeout is how long to wait at most.
	Timeout time.Duration
	// Summary is a few words, such as: wait for text.
	Summary string
	// Met reports whether the wait is over. When again is positive it is asked again after that time, and on
	// every new head before. It runs on the tab's goroutine, must not wait, and is called by one turn only.
	Met func(h *actor.Head) (met bool, again time.Duration, err error)
	// Missed makes the error for when the time is over.
	Missed func(h *actor.Head) error
}

// wait waits as a turn wants. The error is that of the turn, not of the wait.
func (t *run) wait(ctx context.Context, w *WaitStep) (Result, error) {
	err := t.x.Subscribe(ctx)
	if err == nil {
		_, err = t.x.Read(ctx, actor.ReadOptions{})
	}
	if err == nil {
		err = t.await(ctx, w)
	}
	if fatal(ctx, err) {
		return Result{}, err
	}
	result := Result{Done: err == nil, Err: err, Summary: w.Summary + ": " + word(driver.DoResult{}, err)}
	if t.x.State().Dialog != nil {
		return result, nil
	}
	if _, err := t.x.Read(ctx, actor.ReadOptions{}); fatal(ctx, err) {
		return Result{}, err
	}
	return result, nil
}

// await returns when a wait is met or its time is over.
func (t *run) await(ctx context.Context, w *WaitStep) error {
	bounded, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	crashes := t.x.State().Crashes
	for {
		met, again, err := w.Met(t.x.Head())
		switch {
		case met || err != nil:
			return err
		case t.x.State().Crashes != crashes:
			return t.x.Crash()
		case t.x.State().Dialog != nil:
			return t.x.Blocked()
		}
		round, stop := bounded, context.CancelFunc(func() {})
		if again > 0 {
			round, stop = context.WithTimeout(bounded, again)
		}
		happened := t.x.AwaitHead(round)
		stop()
		switch {
		case happened:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(bounded.Err(), context.DeadlineExceeded):
			if t.live.Silent() {
				_ = t.live.Stop() // the wait says so in its own words
				t.x.Publish()
			}
			return w.Missed(t.x.Head())
		}
	}
}

// hold holds what the waits of a turn need, if it has any; release ends that.
func (t *run) hold(turn Turn) (waits bool, release func()) {
	var held []func()
	for _, s := range turn.Steps {
		if s.Wait != nil {
			held = append(held, t.x.Hold(s.Wait.Options))
		}
	}
	return len(held) > 0, func() {
		for _, end := range held {
			end()
		}
	}
}
