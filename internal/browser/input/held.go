package input

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
	"github.com/domtap/domtap/internal/retry"
)

// held is a button that stays down between actions. The guards are disarmed during that time: the element has received the press, and later
// events are meant for whatever the pointer reaches, as with a person's mouse.
type held struct {
	// how is the template for mouse events while the button is down.
	how input.DispatchMouseEventParams
	// at is the pointer's position.
	at driver.Point
	// path leads to the element that received the press. Its document records the events that it receives, unless the point is inside a
	// frame of it.
	path *path
	// mayDrag is set if moves may start a drag of data. data delivers the drag until stop is called. dragged is the dragged data, or nil.
	mayDrag bool
	data    <-chan *cdproto.Message
	stop    func()
	dragged *input.DragData
	// entered is set after dragenter was sent.
	entered bool
}

// isObserved reports whether the document of the press records the events that it receives.
func (h *held) isObserved() bool { return !h.path.isUnguarded() }

// buttonBits maps buttons to their bits in the field buttons of a mouse event.
var buttonBits = map[input.MouseButton]int64{input.MouseButtonLeft: 1, input.MouseButtonRight: 2, input.MouseButtonMiddle: 4}

// down presses a button and keeps it down.
func (t *pointer) down(ctx context.Context) (driver.DoResult, error) {
	if t.held != nil {
		return driver.DoResult{}, apierr.Errorf(apierr.NotActionable, "a button is down already: release it with mouse_up first")
	}
	modifiers, err := keys.Modifiers(t.action.Modifiers)
	if err != nil {
		return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "%s", err)
	}
	if t.action.Untargeted() {
		t.action.Point = t.action.From
	}
	button := input.MouseButton(t.action.Button)
	if button == "" {
		button = input.MouseButtonLeft
	}
	h := &held{how: input.DispatchMouseEventParams{Button: button, Buttons: buttonBits[button], ClickCount: 1, Modifiers: modifiers}}
	h.data, h.stop = t.page.Expect(input.DragIntercepted.Method)
	t.page.Main().Post(ctx, input.CommandSetInterceptDrags, input.SetInterceptDragsParams{Enabled: true})
	p, began, result, err := t.pressUntilReached(ctx, h.how, "beginHold")
	if err != nil {
		t.endDrags(ctx, h)
		return result, err
	}
	h.path, h.at, h.mayDrag = p, p.at, began.MayDrag || p.isUnguarded()
	t.held = h
	t.disarmPath(ctx, p)
	if err := retry.Pause(ctx, t.action.Hold); err != nil {
		return driver.DoResult{}, err
	}
	return driver.DoResult{Detail: t.describePoint(p)}, nil
}

// endDrags ends the interception of drags that down has started.
func (t *task) endDrags(ctx context.Context, h *held) {
	h.stop()
	t.page.Main().Post(context.WithoutCancel(ctx), input.CommandSetInterceptDrags, input.SetInterceptDragsParams{})
}

// pressUntilReached presses a button at the element, repeatedly within the time limit. The browser's hit test may lag behind a recent
// scroll or move, and then the element does not receive the press. The guards stay armed unless the outcome command disarms them. The
// caller must disarm the path and release the button.
func (t *pointer) pressUntilReached(ctx context.Context, how input.DispatchMouseEventParams, command string) (*path, outcome.Press, driver.DoResult, error) {
	for {
		p, err := t.point(ctx, t.action.Location, how.Modifiers)
		if err != nil {
			return nil, outcome.Press{}, driver.DoResult{}, err
		}
		err = t.page.Main().Run(ctx, mouse(input.DispatchMouseEventTypeMousePressed, p.at, how))
		began := outcome.Press{Presses: 1}
		if err == nil && !p.isUnguarded() {
			err = call(ctx, p.leaf(), command, nil, &began)
		}
		if err == nil && began.Presses > 0 {
			return p, began, driver.DoResult{}, nil
		}
		up := t.release(ctx, released(p.at, how))
		got, serr := t.outcomeOf(ctx, p)
		t.disarmPath(ctx, p)
		for _, e := range []error{err, up, serr} {
			if e != nil {
				return nil, outcome.Press{}, driver.DoResult{}, t.unfinished(ctx, e)
			}
		}
		switch {
		case got.IsDifferent():
			return nil, outcome.Press{}, driver.DoResult{}, t.refusal(p.location, got.Element)
		case got.Reached:
			result, err := got.Partial(p.location, t.clicks())
			return nil, outcome.Press{}, result, err
		case !time.Now().Before(t.deadline):
			return nil, outcome.Press{}, driver.DoResult{}, got.Missed(p.location, t.action)
		}
	}
}

// released returns the event that releases a button that was pressed with the event press.
func released(at driver.Point, press input.DispatchMouseEventParams) devtools.Step {
	press.Buttons = 0
	return mouse(input.DispatchMouseEventTypeMouseReleased, at, press)
}

// unfinished returns the error of an action that failed after the press.
func (t *task) unfinished(ctx context.Context, err error) error {
	var known *apierr.Error
	if ctx.Err() != nil || errors.As(err, &known) || errors.Is(err, devtools.ErrLost) {
		return err
	}
	return outcome.DragUnfinished(t.action.Ref, err)
}

// moves returns the number of moves along a line.
func (t *task) moves() int {
	if t.action.Moves > 0 {
		return t.action.Moves
	}
	return dragSteps
}

// moveTo moves the pointer, with a held button if there is one.
func (t *pointer) moveTo(ctx context.Context) (driver.DoResult, error) {
	if t.held != nil {
		return t.moveHolding(ctx, t.held)
	}
	at := t.action.From
	for _, place := range t.action.Waypoints {
		p, err := t.resolve(ctx, place, resolveRequest{Need: "point", Passive: true})
		if err == nil {
			err = t.glideTo(ctx, at, p.at)
			at = &p.at
		}
		if err != nil {
			return driver.DoResult{}, err
		}
	}
	return t.moveToEnd(ctx, at)
}

// moveToEnd moves a pointer without a held button from a start to the end of the action.
func (t *pointer) moveToEnd(ctx context.Context, start *driver.Point) (driver.DoResult, error) {
	end := t.action.Location
	if t.action.Untargeted() {
		end.Point = t.action.From
	}
	if end.Ref != dom.NoRef {
		p, err := t.resolve(ctx, end, resolveRequest{Need: "point", Passive: true})
		if err != nil {
			return driver.DoResult{}, err
		}
		if t.action.Delta == (driver.Point{}) {
			if err := t.glideTo(ctx, start, p.at); err != nil {
				return driver.DoResult{}, err
			}
			return t.hover(ctx)
		}
		end = driver.AtPoint(p.at)
	}
	to := driver.Point{X: end.Point.X + t.action.Delta.X, Y: end.Point.Y + t.action.Delta.Y}
	end = driver.AtPoint(to)
	if _, err := t.resolvePoint(ctx, end); err != nil {
		return driver.DoResult{}, err
	}
	if err := t.glideTo(ctx, start, to); err != nil {
		return driver.DoResult{}, err
	}
	p, err := t.resolvePoint(ctx, end) // the element at the point after the pointer has arrived
	if err != nil {
		return driver.DoResult{}, err
	}
	return driver.DoResult{Detail: "ok, on " + p.found.Named()}, nil
}

// glideTo moves the pointer along a line. If from is nil, it makes a single move.
func (t *pointer) glideTo(ctx context.Context, from *driver.Point, to driver.Point) error {
	if from == nil {
		return t.move(ctx, to, input.DispatchMouseEventParams{})
	}
	for i, n := 1, t.moves(); i <= n; i++ {
		if err := t.move(ctx, between(*from, to, i, n), input.DispatchMouseEventParams{}); err != nil {
			return err
		}
	}
	return nil
}

// between returns the i-th of n points on a line. The last point is its end.
func between(from, to driver.Point, i, n int) driver.Point {
	part := float64(i) / float64(n)
	return driver.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
}

// moveHolding moves the pointer with the button down.
func (t *pointer) moveHolding(ctx context.Context, h *held) (driver.DoResult, error) {
	began := h.at
	for _, place := range t.action.Waypoints {
		next, err := t.destination(ctx, place, h.path.location)
		if err == nil {
			err = t.glideHolding(ctx, h, next)
		}
		if err != nil {
			return driver.DoResult{}, t.unfinished(ctx, err)
		}
	}
	to, err := began, error(nil)
	if !t.action.Untargeted() {
		to, err = t.destination(ctx, t.action.Location, h.path.location)
	}
	if err == nil {
		err = t.glideHolding(ctx, h, driver.Point{X: to.X + t.action.Delta.X, Y: to.Y + t.action.Delta.Y})
	}
	if err != nil {
		return driver.DoResult{}, t.unfinished(ctx, err)
	}
	t.pointerAt = &driver.PointerPosition{Point: h.at}
	switch {
	case h.dragged != nil:
		return driver.DoResult{Detail: "ok, dragging"}, nil
	case !h.isObserved():
		return driver.DoResult{}, nil
	}
	var got outcome.Held
	if err := call(ctx, h.path.leaf(), "heldOutcome", nil, &got); err != nil {
		return driver.DoResult{}, t.unfinished(ctx, err)
	}
	return got.Moved()
}

// glideHolding moves the pointer along a line with the button down. Once the page drags data, it sends the browser's drag events.
func (t *pointer) glideHolding(ctx context.Context, h *held, to driver.Point) error {
	from := h.at
	for i, n := 1, t.moves(); i <= n; i++ {
		h.at = between(from, to, i, n)
		var err error
		if h.dragged != nil {
			err = t.dragOver(ctx, h.at, h.dragged, !h.entered)
			h.entered = true
		} else if err = t.move(ctx, h.at, h.how); err == nil && h.mayDrag {
			err = t.takeDrag(ctx, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeDrag takes over a drag of data that a move may have started.
func (t *pointer) takeDrag(ctx context.Context, h *held) error {
	select {
	case msg := <-h.data:
		return h.drag(msg)
	default:
	}
	if !h.isObserved() {
		return nil
	}
	var got outcome.Held
	if err := call(ctx, h.path.leaf(), "draggingNow", nil, &got); err != nil || !got.Dragging {
		return err
	}
	msg, err := awaitDrag(ctx, h.data)
	if msg == nil || err != nil {
		h.mayDrag = false
		return err
	}
	return h.drag(msg)
}

// drag stores the dragged data from its intercept event.
func (h *held) drag(msg *cdproto.Message) (err error) {
	h.dragged, err = dragData(msg)
	return err
}

// up releases the button that is down.
func (t *pointer) up(ctx context.Context) (driver.DoResult, error) {
	h := t.held
	if h == nil {
		return driver.DoResult{}, apierr.Errorf(apierr.NotActionable, "no button is down: press one with mouse_down first")
	}
	var dropped error
	if h.dragged != nil {
		if dropped = t.settle(ctx, h.at, h.dragged); dropped == nil {
			dropped = t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDragOver, h.at, h.dragged), dragEvent(input.DispatchDragEventTypeDrop, h.at, h.dragged))
		}
	}
	var heard *devtools.Call
	if h.isObserved() && h.dragged == nil {
		heard, _ = h.path.leaf().Send(ctx, "awaitRelease", nil)
	}
	t.held = nil
	err := t.release(ctx, released(h.at, h.how))
	t.endDrags(ctx, h)
	t.pointerAt = &driver.PointerPosition{Point: h.at}
	if err = errors.Join(dropped, err); err != nil {
		return driver.DoResult{Delivered: driver.DeliveredPart}, t.unfinished(ctx, err)
	}
	return t.releasedOutcome(ctx, h, heard)
}

// releasedOutcome requests what the document of the press received of the release.
func (t *pointer) releasedOutcome(ctx context.Context, h *held, heard *devtools.Call) (driver.DoResult, error) {
	defer func() {
		if heard != nil {
			heard.Forget()
		}
		t.endHold(ctx, h)
	}()
	if !h.isObserved() {
		return driver.DoResult{}, nil
	}
	var got outcome.Held
	if err := call(ctx, h.path.leaf(), "heldOutcome", nil, &got); err != nil {
		if ctx.Err() != nil {
			return driver.DoResult{}, err
		}
		got = outcome.Held{Gone: true}
		bounded, cancel := context.WithTimeout(ctx, lastReportLimit)
		defer cancel()
		if heard != nil {
			_ = answer(bounded, heard, &got) // without a response, the outcome is unknown
		}
	}
	if got.Gone {
		return got.Result(driver.DoResult{}, h.dragged != nil)
	}
	moved, _ := t.movedBy(ctx, h.path)
	return got.Result(moved, h.dragged != nil)
}

// endHold stops the recording of events in the document of the press.
func (t *task) endHold(ctx context.Context, h *held) {
	if k, err := h.path.leaf().Send(context.WithoutCancel(ctx), "endHold", nil); err == nil {
		k.Forget()
	}
}

// ReleaseButton releases the button that is down; see driver.Input.
func (h *Dispatcher) ReleaseButton(ctx context.Context) {
	was := h.held
	if was == nil {
		return
	}
	h.held = nil
	t := &task{Dispatcher: h}
	main := h.page.Main()
	if was.dragged != nil {
		main.PostAll(ctx, dragEvent(input.DispatchDragEventTypeDragCancel, was.at, was.dragged))
	}
	if up := released(was.at, was.how); !h.page.AfterDialog(up) {
		main.PostAll(ctx, up)
	}
	t.endDrags(ctx, was)
	t.endHold(ctx, was)
}
