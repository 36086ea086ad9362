package input

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
)

const (
	// framePulse is the pause between two checks that a frame responds, and frameBound the time limit of a check. Package actor monitors
	// the page itself.
	framePulse = 250 * time.Millisecond
	frameBound = 2 * time.Second
)

// errFrameHangs cancels an action in a frame of another process that stopped responding.
var errFrameHangs = errors.New("the frame of the element stopped answering")

// watched runs an action. If the action's frame has its own process, it monitors the frame and cancels the action if the frame hangs.
func (h *Dispatcher) watched(ctx context.Context, a driver.Action, do func(context.Context) (driver.DoResult, error)) (driver.DoResult, error) {
	frame := h.processOf(ctx, a)
	if frame == nil {
		return do(ctx)
	}
	inner, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for pause := time.NewTimer(framePulse); ; pause.Reset(framePulse) {
			select {
			case <-inner.Done():
				pause.Stop()
				return
			case <-pause.C:
			}
			if !answers(inner, *frame) {
				cancel(errFrameHangs)
			}
		}
	})
	result, err := do(inner)
	hangs := context.Cause(inner) == errFrameHangs && ctx.Err() == nil
	cancel(nil)
	watcher.Wait()
	switch {
	case hangs && err == nil:
		result.Detail = cmp.Or(result.Detail, "ok") + ", but then its frame stopped answering"
	case hangs:
		err = apierr.Errorf(apierr.Unresponsive,
			"the frame of the element stopped answering during the %s; whether the element received anything is unknown: wait and read the page, or navigate the tab elsewhere", a.Kind)
	}
	return result, err
}

// processOf returns the session of the action's frame, or nil if it is the page's own session.
func (h *Dispatcher) processOf(ctx context.Context, a driver.Action) *devtools.Session {
	if a.Frame == "" {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, frameBound)
	defer cancel()
	agent, err := h.page.Agent(bounded, a.Frame)
	if err != nil || agent.Session().ID == h.page.Main().ID {
		return nil
	}
	session := agent.Session()
	return &session
}

// answers reports whether a process responds. An error counts as a response: the frame is being replaced or is gone.
func answers(ctx context.Context, s devtools.Session) bool {
	bounded, cancel := context.WithTimeout(ctx, frameBound)
	defer cancel()
	_, err := cdp.Call(bounded, s, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"})
	return err == nil || bounded.Err() == nil || ctx.Err() != nil
}
