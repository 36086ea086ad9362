package actor

import (
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

// TurnWait lets a turn wait between its actions; the tab does nothing else meanwhile.
type TurnWait struct {
	// Options is what the page must tell, from the start of the turn on.
	Options WatchOptions
	// Timeout is how long to wait at most.
	Timeout time.Duration
	// Summary is a few words, such as: wait for text.
	Summary string
	// Met reports whether the wait is over. When again is positive it is asked again after that time, and on
	// every new head before. It runs on the tab's goroutine, must not wait, and is called by one turn only.
	Met func(h *Head) (met bool, again time.Duration, err error)
	// Missed makes the error for when the time is over.
	Missed func(h *Head) error
}

// expect holds what the waits of a turn need, if it has any; release ends that.
func (t *Tab) expect(turn Turn) (waits bool, release func()) {
	var held []*watch
	for _, a := range turn.Actions {
		if a.Wait != nil {
			one := &watch{options: a.Wait.Options.clone()}
			t.watches.add(one)
			held = append(held, one)
		}
	}
	return len(held) > 0, func() {
		for _, one := range held {
			t.watches.release(one)
		}
	}
}

// linger waits as a turn wants. The error is that of the turn, not of the wait.
func (t *Tab) linger(ctx context.Context, w *TurnWait) (ActionResult, error) {
	err := t.observe(ctx)
	if err == nil {
		_, err = t.read(ctx, ReadOptions{})
	}
	if err == nil {
		err = t.lookOut(ctx, w)
	}
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	result := ActionResult{Done: err == nil, Err: err, Summary: w.Summary + ": " + word(driver.DoResult{}, err)}
	if t.info.Dialog != nil {
		return result, nil
	}
	if _, err := t.read(ctx, ReadOptions{}); t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	return result, nil
}

// lookOut returns when a wait is met or its time is over.
func (t *Tab) lookOut(ctx context.Context, w *TurnWait) error {
	bounded, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	crashes := t.crashes
	for {
		met, again, err := w.Met(t.head.Load())
		switch {
		case met || err != nil:
			return err
		case t.crashes != crashes:
			return t.crash()
		case t.info.Dialog != nil:
			return t.blocked()
		}
		round, stop := bounded, context.CancelFunc(func() {})
		if again > 0 {
			round, stop = context.WithTimeout(bounded, again)
		}
		stepped := t.step(round, nil, false)
		stop()
		switch {
		case stepped:
			t.publish()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(bounded.Err(), context.DeadlineExceeded):
			if t.isSilent() {
				_ = t.stopAnswering() // the wait says so in its own words
				t.publish()
			}
			return w.Missed(t.head.Load())
		}
	}
}
