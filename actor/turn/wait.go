package turn

import (
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// WaitStep waits between the actions of a turn. The tab is busy during the wait.
type WaitStep struct {
	// Options select what the page must report, from the start of the turn.
	Options actor.WatchOptions
	// Timeout limits how long the step waits.
	Timeout time.Duration
	// Summary describes the step in a few words, such as: wait for text.
	Summary string
	// Met reports whether the wait is over. It is called on every new head and, if again is positive, after that time. It runs on the tab's
	// goroutine, must not block, and is called by one turn only.
	Met func(h *actor.Head) (met bool, again time.Duration, err error)
	// Missed returns the error for a timeout.
	Missed func(h *actor.Head) error
}

// wait performs a WaitStep. The error is for the turn, not for the wait.
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

// await returns when a wait is met or its time is up.
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
				_ = t.live.Stop() // the error of the wait reports it in its own words
				t.x.Publish()
			}
			return w.Missed(t.x.Head())
		}
	}
}

// hold adds watches for what the waits of a turn need, if there are any. release removes them.
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
