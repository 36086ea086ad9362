package actor

import (
	"context"
	"errors"
	"sync"
)

// share lets calls of one kind that wait for their turn of the tab take it together: a thousand clients that come at once
// fill no mailbox, and the page is asked once for all of them. Each gets an answer that is younger than its call.
type share[Ask, Answer any] struct {
	mu sync.Mutex
	// waiting is the turn that has not begun yet, or nil.
	waiting *sharedTurn[Ask, Answer]
}

// sharedTurn is a turn of the tab that calls share.
type sharedTurn[Ask, Answer any] struct {
	// asks is what they ask for; it grows until the turn begins.
	asks []Ask
	// done is closed when the turn is over, however it went; then answer and err say how.
	done   chan struct{}
	answer Answer
	err    error
}

// together runs work on the tab's goroutine for all who wait for that, among them the caller.
func together[Ask, Answer any](ctx context.Context, t *Tab, what string, s *share[Ask, Answer], ask Ask, work func(context.Context, *Exclusive, []Ask) (Answer, error)) (Answer, error) {
	var none Answer
	for {
		turn, leads := s.enter(ask)
		if leads {
			answer, err := Do(ctx, t, Command{Name: what, ReadOnly: true}, func(ctx context.Context, x *Exclusive) (Answer, error) { return work(ctx, x, s.begin(turn)) })
			s.finish(turn, answer, err)
			return answer, err
		}
		select {
		case <-turn.done:
			gaveUp := errors.Is(turn.err, context.Canceled) || errors.Is(turn.err, context.DeadlineExceeded)
			if !gaveUp { // that who led it did not wait any longer says nothing to the others
				return turn.answer, turn.err
			}
		case <-ctx.Done():
			return none, t.explain(ctx, what, ctx.Err())
		case <-t.done:
			return none, t.ended()
		}
	}
}

// enter joins the turn that waits, or makes one, which the caller leads.
func (s *share[Ask, Answer]) enter(ask Ask) (turn *sharedTurn[Ask, Answer], leads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leads = s.waiting == nil; leads {
		s.waiting = &sharedTurn[Ask, Answer]{done: make(chan struct{})}
	}
	s.waiting.asks = append(s.waiting.asks, ask)
	return s.waiting, leads
}

// begin says what a turn is for; whoever comes from now on waits for the next one.
func (s *share[Ask, Answer]) begin(turn *sharedTurn[Ask, Answer]) []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(turn)
	return turn.asks
}

// finish tells everybody how a turn went, which may never have begun.
func (s *share[Ask, Answer]) finish(turn *sharedTurn[Ask, Answer], answer Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(turn)
	turn.answer, turn.err = answer, err
	close(turn.done)
}

// leave ends the waiting for a turn; the caller holds the lock.
func (s *share[Ask, Answer]) leave(turn *sharedTurn[Ask, Answer]) {
	if s.waiting == turn {
		s.waiting = nil
	}
}
