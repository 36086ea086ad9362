package turn

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// mouse is the pointer between the steps of a turn.
type mouse struct {
	// at is where the pointer is; nil: no step has moved it.
	at *driver.Point
	// down says that a button is down.
	down bool
}

// note notes what a step did with the pointer.
func (m *mouse) note(s Step, r Result) {
	if r.Aim != nil {
		m.at = &r.Aim.Point
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

// presses reports whether it may leave a button down.
func (a Step) presses() bool {
	return a.acts() && a.Field == nil && a.Submit == nil && a.Kind == driver.MouseDown
}

// performAndLetGo is performAll, behind which no button is down, however it ends.
func (t *run) performAndLetGo(ctx context.Context, turn Turn, results []Result) error {
	if slices.ContainsFunc(turn.Steps, Step.presses) {
		defer func() { t.x.Page().LetGo(context.WithoutCancel(ctx)) }()
	}
	if err := t.performAll(ctx, turn, results); err != nil {
		return err
	}
	return t.letGo(ctx, results)
}

// letGo releases the button that the steps have left down, as a part of the turn, so that its answer has what the page made of that. When the
// page cannot answer, or the time is up, the button is released all the same. The error ends the turn.
func (t *run) letGo(ctx context.Context, results []Result) error {
	if !t.mouse.down {
		return nil
	}
	last := &results[len(results)-1]
	last.Summary += "; the button that was down was released at the end of the turn"
	if ctx.Err() != nil || t.x.Ready() != nil || t.live.Hung() {
		t.x.Page().LetGo(context.WithoutCancel(ctx))
		return nil
	}
	start := t.x.State()
	t.last = true
	_, err := t.dispatch(ctx, driver.Action{Kind: driver.MouseUp, Spot: driver.At(dom.NoRef)}, start)
	if !fatal(ctx, err) {
		err = t.settle(ctx, start, "")
	}
	if fatal(ctx, err) && !isTimeUp(ctx) {
		return err
	}
	return nil
}
