package input

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
	"github.com/domtap/domtap/internal/retry"
)

const (
	// nudge is how far the pointer moves to make the browser start a drag, in CSS pixels.
	nudge = 8
	// dragSteps is the number of moves along a straight line of a drag.
	dragSteps = 8
	// settleMoves is the number of moves at the point of release, and settleTime the pause after each. Browsers repeat dragover every 50
	// ms.
	settleMoves = 2
	settleTime  = 50 * time.Millisecond
)

// do presses at the element, moves, and releases. If the page starts to drag data, it continues with the browser's drag events, else with
// pointer moves.
func (t *drag) do(ctx context.Context) (driver.DoResult, error) {
	data, stop := t.page.Expect(input.DragIntercepted.Method)
	defer stop()
	main := t.page.Main()
	main.Post(ctx, input.CommandSetInterceptDrags, input.SetInterceptDragsParams{Enabled: true})
	defer main.Post(context.WithoutCancel(ctx), input.CommandSetInterceptDrags, input.SetInterceptDragsParams{})
	for _, place := range t.places() {
		// Do not start a drag whose target has changed.
		if place.Ref == dom.NoRef {
			continue
		}
		if _, _, err := t.ready(ctx, place, resolveRequest{Need: "node", Passive: true}); err != nil {
			return driver.DoResult{}, err
		}
	}
	p, _, result, err := t.pressUntilReached(ctx, pressLeft, "dragBegan")
	if err != nil {
		return result, err
	}
	defer t.disarmPath(ctx, p)
	to := p.at
	if err = retry.Pause(ctx, t.action.Hold); err == nil {
		var end driver.Point
		if end, err = t.moveHeld(ctx, p, data); err == nil {
			to = end
		}
	}
	up := t.releaseButton(ctx, to)
	got, serr := t.outcomeOf(ctx, p)
	if ctx.Err() == nil {
		serr = nil // the drop led to another document
	}
	for _, e := range []error{err, up, serr} {
		if e != nil {
			return driver.DoResult{Delivered: driver.DeliveredPart}, t.unfinished(ctx, e)
		}
	}
	moved, stays := t.movedBy(ctx, p)
	if got.OffTarget {
		return outcome.ReleasedOffTarget(t.action.Ref, t.action.To.Ref, moved)
	}
	return outcome.Dragged(got, moved, stays), nil
}

// places returns the waypoints and, unless the end is a distance, the end.
func (t *drag) places() []driver.Location {
	places := slices.Clone(t.action.Waypoints)
	if t.action.To != nil {
		places = append(places, *t.action.To)
	}
	return places
}

// pressLeft is a single press of the left button.
var pressLeft = input.DispatchMouseEventParams{Button: input.MouseButtonLeft, ClickCount: 1}

// releaseButton releases the left button, as release does.
func (t *drag) releaseButton(ctx context.Context, at driver.Point) error {
	return t.release(ctx, released(at, pressLeft))
}

// movedLimit bounds the animation of an element after a drag, in milliseconds.
const movedLimit = 1000

// movedBy returns how far a drag has moved its element, and whether the element stays there. For a document that is gone, it returns no
// movement.
func (t *pointer) movedBy(ctx context.Context, p *path) (moved driver.DoResult, stays bool) {
	var by outcome.Displacement
	if err := call(ctx, p.leaf(), "displacement", map[string]any{"patience": movedLimit}, &by); err != nil {
		return driver.DoResult{}, false // the drag itself was performed
	}
	return driver.DoResult{Moved: by.Moved(), Detail: by.Note()}, by.Stays
}

// moveHeld moves the held element to its destination and returns that point.
func (t *drag) moveHeld(ctx context.Context, p *path, data <-chan *cdproto.Message) (driver.Point, error) {
	to := driver.Point{X: p.at.X + t.action.Delta.X, Y: p.at.Y + t.action.Delta.Y}
	begin := driver.Point{X: p.at.X + nudge, Y: p.at.Y}
	if to.X < p.at.X {
		begin.X = p.at.X - nudge
	}
	if t.action.To == nil && t.action.Delta.X == 0 {
		begin = driver.Point{X: p.at.X, Y: p.at.Y + min(nudge, max(-nudge, t.action.Delta.Y))}
	}
	for _, at := range []driver.Point{{X: (p.at.X + begin.X) / 2, Y: (p.at.Y + begin.Y) / 2}, begin} {
		if err := t.move(ctx, at, dragging); err != nil {
			return to, err
		}
	}
	dragged, err := t.dragged(ctx, p, data)
	if err != nil {
		return to, err
	}
	at, first := begin, true
	for _, place := range t.places() {
		next, err := t.destination(ctx, place, p.location)
		if err != nil {
			return to, err
		}
		if err := t.glide(ctx, at, next, dragged, first); err != nil {
			return to, err
		}
		at, first = next, false
	}
	if t.action.To != nil {
		to = at
	} else if err := t.glide(ctx, at, to, dragged, first); err != nil {
		return to, err
	}
	if err := t.settle(ctx, to, dragged); err != nil {
		return to, err
	}
	if dragged == nil {
		return t.arrive(ctx, p, to)
	}
	return to, t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDragOver, to, dragged), dragEvent(input.DispatchDragEventTypeDrop, to, dragged))
}

// settle holds the dragged element at the point of release and repeats moves there, like a hand that comes to rest. A list that makes room
// for an item ignores moves for some time after each.
func (t *pointer) settle(ctx context.Context, to driver.Point, dragged *input.DragData) error {
	for range settleMoves {
		var err error
		if dragged != nil {
			err = t.dragOver(ctx, to, dragged, false)
		} else {
			err = t.move(ctx, to, dragging)
		}
		if err != nil {
			return err
		}
		if err := retry.Pause(ctx, settleTime); err != nil {
			return err
		}
	}
	return nil
}

// glide moves the held element in a straight line. first starts the drag of data at the first point.
func (t *drag) glide(ctx context.Context, from, to driver.Point, dragged *input.DragData, first bool) error {
	for i := 1; i <= dragSteps; i++ {
		part := float64(i) / dragSteps
		at := driver.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
		var err error
		if dragged != nil {
			err = t.dragOver(ctx, at, dragged, first && i == 1)
		} else {
			err = t.move(ctx, at, dragging)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// arrive repeats the move at the point of release, for pages that move elements under the pointer. It also sends the page the expected drop
// target.
func (t *drag) arrive(ctx context.Context, p *path, to driver.Point) (driver.Point, error) {
	end := t.action.To
	if err := t.move(ctx, to, dragging); err != nil || end == nil || end.Ref == dom.NoRef || end.Frame != p.location.Frame || p.location.Ref == dom.NoRef {
		return to, err
	}
	return to, call(ctx, p.leaf(), "setDropTarget", map[string]any{"ref": uint32(end.Ref)}, nil)
}

// dragging is a move with the left button held.
var dragging = input.DispatchMouseEventParams{Button: input.MouseButtonLeft, Buttons: 1}

// interceptLimit bounds the wait for the data that the page drags.
const interceptLimit = 5 * time.Second

// dragged returns the data that the page drags. It returns nil if the page drags none and only the pointer moves.
func (t *drag) dragged(ctx context.Context, p *path, data <-chan *cdproto.Message) (*input.DragData, error) {
	var began outcome.Press
	began.Dragging = true
	if p.location.Ref != dom.NoRef {
		if err := call(ctx, p.leaf(), "dragBegan", nil, &began); err != nil {
			return nil, err
		}
	}
	var msg *cdproto.Message
	var err error
	select {
	case msg = <-data:
	default:
		if !began.Dragging || p.location.Ref == dom.NoRef {
			return nil, nil
		}
		if msg, err = awaitDrag(ctx, data); msg == nil || err != nil {
			return nil, err
		}
	}
	return dragData(msg)
}

// awaitDrag waits for the event with the data that the page drags. It returns nil if none arrives in time.
func awaitDrag(ctx context.Context, data <-chan *cdproto.Message) (*cdproto.Message, error) {
	limit := time.NewTimer(interceptLimit)
	defer limit.Stop()
	select {
	case msg := <-data:
		return msg, nil
	case <-limit.C:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// dragData decodes the data of a drag from its intercept event.
func dragData(msg *cdproto.Message) (*input.DragData, error) {
	e, err := devtools.DecodeEvent(msg, input.DragIntercepted)
	if err != nil {
		return nil, fmt.Errorf("reading what is dragged: %w", err)
	}
	return e.Data, nil
}

// destination returns the end point of a drag: a given point, the center of the target element, or another point of it if the center is
// covered.
func (t *pointer) destination(ctx context.Context, s, dragged driver.Location) (driver.Point, error) {
	if s.Ref == dom.NoRef && s.Point != nil {
		return *s.Point, nil
	}
	req := resolveRequest{Need: "drop"}
	if dragged.Ref != dom.NoRef && dragged.Frame == s.Frame {
		ref := uint32(dragged.Ref)
		req.Dragged = &ref
	}
	p, err := t.resolve(ctx, s, req)
	if err != nil {
		return driver.Point{}, err
	}
	return p.at, nil
}

func (t *pointer) dragOver(ctx context.Context, at driver.Point, data *input.DragData, first bool) error {
	steps := []devtools.Step{dragEvent(input.DispatchDragEventTypeDragOver, at, data)}
	if first {
		steps = []devtools.Step{dragEvent(input.DispatchDragEventTypeDragEnter, at, data), steps[0]}
	}
	return t.page.Main().Run(ctx, steps...)
}

func dragEvent(kind input.DispatchDragEventType, at driver.Point, data *input.DragData) devtools.Step {
	return devtools.Step{Method: input.CommandDispatchDragEvent, Params: input.DispatchDragEventParams{Type: kind, X: at.X, Y: at.Y, Data: data}}
}
