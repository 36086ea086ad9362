package actor

import (
	"context"
	"errors"

	"github.com/domtap/domtap/actor/internal/batch"
)

// shareTurn runs work on the tab's goroutine once for all waiting calls of the same kind, including the caller's.
func shareTurn[Ask, Answer any](
	ctx context.Context, t *Tab, what string, calls *batch.Calls[Ask, Answer], ask Ask,
	work func(context.Context, *Exclusive, []Ask) (Answer, error),
) (Answer, error) {
	var none Answer
	for {
		turn, leads := calls.Join(ask)
		if leads {
			answer, err := Do(ctx, t, Command{Name: what, ReadOnly: true}, func(ctx context.Context, x *Exclusive) (Answer, error) {
				return work(ctx, x, calls.Begin(turn))
			})
			calls.Finish(turn, answer, err)
			return answer, err
		}
		select {
		case <-turn.Done():
			answer, err := turn.Result()
			if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				return answer, err
			} // the caller that led the turn stopped waiting, which does not concern the others
		case <-ctx.Done():
			return none, t.explain(ctx, what, ctx.Err())
		case <-t.done:
			return none, t.ended()
		}
	}
}
