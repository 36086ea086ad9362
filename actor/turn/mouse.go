package turn

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// mouse is the state of the pointer between the steps of a turn.
type mouse struct {
	// at is the pointer's position, or nil if no step has moved it.
	at *driver.Point
	// down reports whether a button is pressed.
	down bool
}

// record records the effect of a step on the pointer.
func (m *mouse) record(s Step, r Result) {
	if r.Pointer != nil {
		m.at = &r.Pointer.Point
	}
	if !s.acts() || s.Field != nil || s.Submit != nil {
		return
	}
	switch s.Kind {
	case driver.MouseDown:
		m.down = r.Done
	case driver.MouseUp:
		m.down = false
	}
}

// presses reports whether the step may leave a button pressed.
func (a Step) presses() bool {
	return a.acts() && a.Field == nil && a.Submit == nil && a.Kind == driver.MouseDown
}

// performAndRelease is performAll, but always leaves all buttons released.
func (t *run) performAndRelease(ctx context.Context, turn Turn, results []Result) error {
	if slices.ContainsFunc(turn.Steps, Step.presses) {
		defer func() { t.x.Page().ReleaseButton(context.WithoutCancel(ctx)) }()
	}
	if err := t.performAll(ctx, turn, results); err != nil {
		return err
	}
	return t.releaseButton(ctx, results)
}

// releaseButton releases the button that the steps left pressed, as a part of the turn, so that the answer includes the effects. If the
// page cannot answer, or the time is up, the button is still released. The error ends the turn.
func (t *run) releaseButton(ctx context.Context, results []Result) error {
	if !t.mouse.down {
		return nil
	}
	last := &results[len(results)-1]
	last.Summary += "; the pressed button was released at the end of the turn"
	if ctx.Err() != nil || t.x.Ready() != nil || t.live.Hung() {
		t.x.Page().ReleaseButton(context.WithoutCancel(ctx))
		return nil
	}
	start := t.x.State()
	t.last = true
	_, err := t.dispatch(ctx, driver.Action{Kind: driver.MouseUp, Location: driver.At(dom.NoRef)}, start)
	if !fatal(ctx, err) {
		err = t.settle(ctx, start, "")
	}
	if fatal(ctx, err) && !isTimeUp(ctx) {
		return err
	}
	return nil
}
