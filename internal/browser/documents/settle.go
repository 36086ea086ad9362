package documents

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Settle waits until the main document and the document of the action's frame have rendered two frames without a mutation. If timers is
// set, it also waits for the timers that the page set while it handled the action. It waits at most for limit.
func (q *Query) Settle(ctx context.Context, frame dom.FrameID, limit time.Duration, timers bool) error {
	main, err := q.m.Agent(ctx, "")
	if err != nil {
		return err
	}
	request := observer.SettleRequest{Limit: limit.Milliseconds(), Timers: timers}
	var inner chan struct{}
	if a := q.m.AgentOf(frame); frame != "" && a != nil && !q.m.IsLate(a) {
		inner = make(chan struct{})
		q.m.Tasks.Go(func() {
			defer close(inner)
			bounded, cancel := context.WithTimeout(q.m.Life, limit+FrameGrace)
			defer cancel()
			_ = q.settle(bounded, a, request) // a removed frame counts as settled
		})
	}
	if err := q.settle(ctx, main, request); err != nil && !frames.IsGoneContext(err) {
		return err
	}
	if inner == nil {
		return nil
	}
	select {
	case <-inner:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle waits for one document.
func (q *Query) settle(ctx context.Context, a *frames.Agent, request observer.SettleRequest) error {
	var reply devtools.Evaluation
	err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, a.Params("settle", request), &reply)
	if err == nil {
		err = reply.Decode(nil)
	}
	var answer observer.SettledAnswer
	if err == nil && reply.Decode(&answer) == nil {
		q.recordGrown(a, answer.Grown)
	}
	return err
}

// Ping returns when the main document responds or is replaced.
func (q *Query) Ping(ctx context.Context) error {
	main, err := q.m.Agent(ctx, "")
	if err != nil {
		return err
	}
	if err := main.Call(ctx, "about", nil, nil); err != nil && !frames.IsGoneContext(err) {
		return err
	}
	return nil
}
