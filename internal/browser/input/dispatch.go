package input

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
	"github.com/domtap/domtap/internal/retry"
)

// dispatch presses and releases the mouse and returns the outcome.
func (t *pointer) dispatch(ctx context.Context, p *path, modifiers int64) (outcome.Press, error) {
	defer t.disarmPath(ctx, p)
	button := input.MouseButton(t.action.Button)
	if button == "" {
		button = input.MouseButtonLeft
	}
	var steps []devtools.Step
	if p.ahead {
		steps = append(steps, mouse(input.DispatchMouseEventTypeMouseMoved, p.at, input.DispatchMouseEventParams{Modifiers: modifiers}))
	}
	for n := int64(1); n <= int64(t.clicks()); n++ {
		e := input.DispatchMouseEventParams{Button: button, ClickCount: n, Modifiers: modifiers}
		steps = append(steps, mouse(input.DispatchMouseEventTypeMousePressed, p.at, e), mouse(input.DispatchMouseEventTypeMouseReleased, p.at, e))
	}
	held, err := false, error(nil)
	if last := len(steps) - 1; t.action.Hold > 0 {
		held, err = t.holdBetween(ctx, p, steps[:last], steps[last])
	} else {
		err = t.page.Main().Run(ctx, steps...)
	}
	if p.isUnguarded() {
		return outcome.Press{}, err
	}
	var got outcome.Press
	if err != nil {
		disarm(ctx, p.agents()[:1])
	} else if got, err = t.outcomeOf(ctx, p); err != nil && ctx.Err() == nil {
		return p.lastReport(ctx) // the document is gone
	}
	got, err = p.orLastReport(ctx, got, err)
	got.Held = held
	return got, err
}

// holdBetween presses, holds the button and releases it, even if ctx ends while the button is down. held reports that the element received
// the press.
func (t *pointer) holdBetween(ctx context.Context, p *path, press []devtools.Step, release devtools.Step) (held bool, err error) {
	if err = t.page.Main().Run(ctx, press...); err == nil {
		err = retry.Pause(ctx, t.action.Hold)
	}
	var during outcome.Press
	if err == nil && !p.isUnguarded() {
		_ = call(ctx, p.leaf(), "dragBegan", nil, &during) // a document that is gone received the press or reported nothing
	}
	return during.Presses > 0, errors.Join(err, t.release(ctx, release))
}

// release releases a button or a key, even if ctx has ended. If ctx ends, release does not wait for the page, which may hang. While a
// dialog is open, the release is sent after the dialog closes.
func (t *task) release(ctx context.Context, step devtools.Step) error {
	if t.page.AfterDialog(step) {
		return nil
	}
	k, err := t.page.Main().Send(context.WithoutCancel(ctx), step.Method, step.Params)
	if err != nil {
		return err
	}
	return k.Wait(ctx, nil)
}

// orLastReport returns the outcome of a press. If ctx ended before the page responded, because it may hang, it returns the page's last
// report.
func (p *path) orLastReport(ctx context.Context, got outcome.Press, err error) (outcome.Press, error) {
	if err == nil || ctx.Err() == nil || !p.pressed.Arrived() {
		return got, err
	}
	if last, lerr := p.lastReport(context.WithoutCancel(ctx)); lerr == nil && last.Complete {
		return last, nil
	}
	return got, err
}

// outcomeOf requests the outcome of a press and releases the element. After a click it also requests whether the document has settled,
// which is usually the next request. That saves a round trip.
func (t *pointer) outcomeOf(ctx context.Context, p *path) (got outcome.Press, err error) {
	if p.isUnguarded() {
		return outcome.Press{Reached: true}, nil
	}
	k, err := p.leaf().Send(ctx, "pressOutcome", nil)
	if err == nil {
		if t.action.Kind == driver.Click {
			t.page.AskSettled(ctx, p.leaf())
		}
		err = answer(ctx, k, &got)
	}
	if err != nil && ctx.Err() != nil {
		disarm(ctx, p.agents()[:1])
	}
	return got, err
}

// lastReportLimit bounds the wait for the last report of a document that is gone.
const lastReportLimit = 500 * time.Millisecond

// lastReport returns the outcome of a press in a document that is gone, as far as the document reported it.
func (p *path) lastReport(ctx context.Context) (outcome.Press, error) {
	bounded, cancel := context.WithTimeout(ctx, lastReportLimit)
	defer cancel()
	var got outcome.Press
	if err := answer(bounded, p.pressed, &got); err == nil {
		return got.OfGoneDocument(), nil
	}
	if err := answer(bounded, p.down, &got); err == nil {
		return got.OfDocumentGoneSinceDown(), nil
	}
	return outcome.Press{Unknown: true}, ctx.Err()
}
