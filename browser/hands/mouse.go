package hands

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor"
	keys "github.com/domtap/domtap/browser/input"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/dom"
)

// mouse makes one mouse event at a point.
func mouse(kind input.DispatchMouseEventType, at actor.Point, e input.DispatchMouseEventParams) link.Step {
	e.Type, e.X, e.Y = kind, at.X, at.Y
	return link.Step{Method: input.CommandDispatchMouseEvent, Params: e}
}

// move moves the pointer and returns when the page has heard of it.
func (t *task) move(ctx context.Context, at actor.Point, e input.DispatchMouseEventParams) error {
	return t.page.Main().Run(ctx, mouse(input.DispatchMouseEventTypeMouseMoved, at, e))
}

// point moves the pointer to an element and checks that it is there, as often as it takes within the time there is.
// When it returns a path, the guards are armed: the caller releases it.
func (t *task) point(ctx context.Context, s actor.Spot, modifiers int64) (*path, error) {
	req := reachRequest{Need: "point", Passive: t.action.Kind.IsPassive()}
	for {
		p, err := t.reach(ctx, s, req)
		if err != nil {
			return nil, err
		}
		if err := t.move(ctx, p.at, input.DispatchMouseEventParams{Modifiers: modifiers}); err != nil {
			return nil, err
		}
		wrong, err := t.aim(ctx, p)
		if err != nil {
			p.forget()
			return nil, err
		}
		if wrong.Error == "" {
			return p, nil
		}
		letGo(ctx, p.agents()[:1])
		t.release(ctx, p)
		if wrong.Error == "stale" || isOther(wrong) || !time.Now().Before(t.deadline) {
			return nil, t.refusal(s, wrong)
		}
		req.Still = true
	}
}

func (t *task) hover(ctx context.Context) (actor.Deed, error) {
	p, err := t.point(ctx, t.action.Spot(), 0)
	if err != nil {
		return actor.Deed{}, err
	}
	letGo(ctx, p.agents()[:1])
	t.release(ctx, p)
	return actor.Deed{Note: t.hit(p)}, nil
}

// hit says what stands at the point of an action that names no element.
func (t *task) hit(p *path) string {
	if p.spot.Ref != dom.NoRef {
		return ""
	}
	return "ok, on " + named(p.found)
}

// blow is the answer of the command "struck".
type blow struct {
	reached
	Reached  bool `json:"reached"`
	Clicked  bool `json:"clicked"`
	Dragging bool `json:"dragging"`
	// Gone says that the element left the page meanwhile.
	Gone bool `json:"gone"`
}

// note says what is worth knowing of a press that reached its element.
func (b *blow) note() string {
	switch {
	case b.Clicked && b.Was != b.Now:
		return fmt.Sprintf("ok, but it was called %s when it was pressed and %s when it was clicked", quoted(b.Was), quoted(b.Now))
	case b.Clicked:
		return ""
	case b.Detail != "":
		return "pressed, but not clicked: then " + named(b.reached) + " was in its place"
	case b.Gone:
		return "pressed; it was gone before the click"
	}
	return ""
}

func (t *task) click(ctx context.Context) (actor.Deed, error) {
	modifiers, err := keys.Modifiers(t.action.Modifiers)
	if err != nil {
		return actor.Deed{}, actor.Errorf(actor.Invalid, "%s", err)
	}
	for {
		p, err := t.point(ctx, t.action.Spot(), modifiers)
		if err != nil {
			return actor.Deed{}, err
		}
		got, err := t.strike(ctx, p, modifiers)
		switch {
		case err != nil:
			return actor.Deed{}, err
		case p.spot.Ref == dom.NoRef:
			return actor.Deed{Note: t.hit(p)}, nil
		case got.Reached:
			return actor.Deed{Note: got.note()}, nil
		case isOther(got.reached):
			return actor.Deed{}, t.refusal(p.spot, got.reached)
		case !time.Now().Before(t.deadline):
			return actor.Deed{}, t.missed(p, got)
		}
	}
}

// strike presses and releases the mouse, and says how that went. A document that is gone by then was clicked.
func (t *task) strike(ctx context.Context, p *path, modifiers int64) (blow, error) {
	defer t.release(ctx, p)
	button := input.MouseButton(t.action.Button)
	if button == "" {
		button = input.MouseButtonLeft
	}
	var steps []link.Step
	for n := int64(1); n <= max(1, int64(t.action.Clicks)); n++ {
		e := input.DispatchMouseEventParams{Button: button, ClickCount: n, Modifiers: modifiers}
		steps = append(steps, mouse(input.DispatchMouseEventTypeMousePressed, p.at, e), mouse(input.DispatchMouseEventTypeMouseReleased, p.at, e))
	}
	err := t.page.Main().Run(ctx, steps...)
	var got blow
	if err != nil {
		letGo(ctx, p.agents()[:1])
	} else {
		got, err = t.struck(ctx, p)
	}
	if err != nil && ctx.Err() != nil && p.wasClicked(ctx) {
		return blow{Reached: true, Clicked: true}, nil
	}
	return got, err
}

// struck asks how a press went, and lets go of the element.
func (t *task) struck(ctx context.Context, p *path) (blow, error) {
	if p.spot.Ref == dom.NoRef {
		return blow{Reached: true}, nil
	}
	var got blow
	if err := call(ctx, p.leaf(), "struck", nil, &got); err != nil {
		if ctx.Err() != nil {
			letGo(ctx, p.agents()[:1])
			return blow{}, err
		}
		return blow{Reached: true, Clicked: true}, nil
	}
	return got, nil
}

// wheel is a turn of the mouse wheel; the browser wants both distances, also 0.
type wheel struct {
	Type   string  `json:"type"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	DeltaX float64 `json:"deltaX"`
	DeltaY float64 `json:"deltaY"`
}

// wheelPatience is how long what a wheel set off may take to come to rest, in milliseconds.
const wheelPatience = 2000

func (t *task) scroll(ctx context.Context) (actor.Deed, error) {
	a := t.action
	turn := a.Delta != actor.Point{}
	if !turn {
		_, err := t.reach(ctx, a.Spot(), reachRequest{Need: "view"})
		return actor.Deed{}, err
	}
	var agent Agent
	before := map[string]any{"center": true}
	var p *path
	var err error
	if a.Aimless() {
		agent, err = t.page.Agent(ctx, "")
	} else if p, err = t.reach(ctx, a.Spot(), reachRequest{Need: "point", Passive: true}); err == nil {
		agent = p.leaf()
		before = map[string]any{"x": p.steps[0].at.X, "y": p.steps[0].at.Y}
	}
	if err != nil {
		return actor.Deed{}, err
	}
	var at point
	if err := call(ctx, agent, "beforeWheel", before, &at); err != nil {
		return actor.Deed{}, err
	}
	if p != nil {
		at = point{p.at.X, p.at.Y}
	}
	turned := wheel{Type: "mouseWheel", X: at.X, Y: at.Y, DeltaX: a.Delta.X, DeltaY: a.Delta.Y}
	if err := t.page.Main().Run(ctx, link.Step{Method: input.CommandDispatchMouseEvent, Params: turned}); err != nil {
		return actor.Deed{}, err
	}
	var moved struct {
		point
		Foreign bool `json:"foreign"`
	}
	if err := call(ctx, agent, "afterWheel", map[string]any{"patience": wheelPatience}, &moved); err != nil {
		return actor.Deed{}, err
	}
	switch {
	case moved.X == 0 && moved.Y == 0 && moved.Foreign:
		return actor.Deed{}, nil
	case moved.X == 0 && moved.Y == 0:
		return actor.Deed{Note: "nothing scrolled: it is at its end, or does not scroll"}, nil
	case moved.X != a.Delta.X || moved.Y != a.Delta.Y:
		return actor.Deed{Note: fmt.Sprintf("ok, by %g,%g", moved.X, moved.Y)}, nil
	}
	return actor.Deed{}, nil
}
