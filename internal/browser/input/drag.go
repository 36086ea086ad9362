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
)

const (
	// nudge is how far the pointer moves before a drag begins for the browser, in CSS pixels.
	nudge = 8
	// dragSteps is in how many moves the pointer goes to where it is dragged.
	dragSteps = 8
	// settleMoves is how many moves follow where it is released, and settleTime how long each lasts. Browsers repeat dragover every 50 ms.
	settleMoves = 2
	settleTime  = 50 * time.Millisecond
)

// drag presses at the element, moves, and releases. When the page begins to drag data, what goes on is a drag of the
// browser's, else the pointer alone moves.
func (t *drag) do(ctx context.Context) (driver.DoResult, error) {
	data, stop := t.page.Expect(input.DragIntercepted.Method)
	defer stop()
	main := t.page.Main()
	main.Post(ctx, input.CommandSetInterceptDrags, input.SetInterceptDragsParams{Enabled: true})
	defer main.Post(context.WithoutCancel(ctx), input.CommandSetInterceptDrags, input.SetInterceptDragsParams{})
	for _, place := range t.places() {
		// Nothing is picked up for a place that is another thing by now.
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
	if err = wait(ctx, t.action.Hold); err == nil {
		var end driver.Point
		if end, err = t.moveHeld(ctx, p, data); err == nil {
			to = end
		}
	}
	up := t.releaseButton(ctx, to)
	got, serr := t.outcomeOf(ctx, p)
	if ctx.Err() == nil {
		serr = nil // what was dropped led to another document
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

// places are the waypoints, and the end unless it is a distance.
func (t *drag) places() []driver.Spot {
	places := slices.Clone(t.action.Waypoints)
	if t.action.To != nil {
		places = append(places, *t.action.To)
	}
	return places
}

// pressLeft is the left button, pressed once.
var pressLeft = input.DispatchMouseEventParams{Button: input.MouseButtonLeft, ClickCount: 1}

// releaseButton releases the button, as release does.
func (t *drag) releaseButton(ctx context.Context, at driver.Point) error {
	return t.release(ctx, released(at, pressLeft))
}

// movedLimit is how long an element may be animated until it stands where a drag has left it, in milliseconds.
const movedLimit = 1000

// movedBy says how far the element of a drag stands from where it stood before, and whether it is known to stay there. A document that
// is gone has left it nowhere.
func (t *pointer) movedBy(ctx context.Context, p *path) (moved driver.DoResult, stays bool) {
	var by outcome.Displacement
	if err := call(ctx, p.leaf(), "displacement", map[string]any{"patience": movedLimit}, &by); err != nil {
		return driver.DoResult{}, false // it was dragged in any case
	}
	note := by.Note()
	return driver.DoResult{Moved: note != "", Note: note}, by.Stays
}

// moveHeld moves what is held to where it belongs and returns that place.
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
		next, err := t.destination(ctx, place, p.spot)
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

// settle holds what is dragged where it is released, with the moves of a hand that comes to rest. A list that makes room for it takes no
// moves for some time after each.
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
		if err := wait(ctx, settleTime); err != nil {
			return err
		}
	}
	return nil
}

// glide moves what is held from one point to another in a straight line; first says that a drag of data begins there.
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

// arrive moves what is held once more to where it is released, for pages that move things under the pointer, and says to the
// page what it is to be released on.
func (t *drag) arrive(ctx context.Context, p *path, to driver.Point) (driver.Point, error) {
	end := t.action.To
	if err := t.move(ctx, to, dragging); err != nil || end == nil || end.Ref == dom.NoRef || end.Frame != p.spot.Frame || p.spot.Ref == dom.NoRef {
		return to, err
	}
	return to, call(ctx, p.leaf(), "setDropTarget", map[string]any{"ref": uint32(end.Ref)}, nil)
}

// dragging is a move with the left button held.
var dragging = input.DispatchMouseEventParams{Button: input.MouseButtonLeft, Buttons: 1}

// interceptLimit bounds how long the browser may take to hand over what the page drags.
const interceptLimit = 5 * time.Second

// dragged returns what the page drags, nil when it drags nothing: the pointer alone moves then.
func (t *drag) dragged(ctx context.Context, p *path, data <-chan *cdproto.Message) (*input.DragData, error) {
	var began outcome.Press
	began.Dragging = true
	if p.spot.Ref != dom.NoRef {
		if err := call(ctx, p.leaf(), "dragBegan", nil, &began); err != nil {
			return nil, err
		}
	}
	var msg *cdproto.Message
	var err error
	select {
	case msg = <-data:
	default:
		if !began.Dragging || p.spot.Ref == dom.NoRef {
			return nil, nil
		}
		if msg, err = awaitDrag(ctx, data); msg == nil || err != nil {
			return nil, err
		}
	}
	return dragData(msg)
}

// awaitDrag waits until the browser hands over what the page drags; nil: it does not.
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

// dragData decodes the data of a drag and drop from the event of its interception.
func dragData(msg *cdproto.Message) (*input.DragData, error) {
	e, err := devtools.DecodeEvent(msg, input.DragIntercepted)
	if err != nil {
		return nil, fmt.Errorf("reading what is dragged: %w", err)
	}
	return e.Data, nil
}

// destination finds where a drag of an element ends: at the centre of another.
func (t *pointer) destination(ctx context.Context, s, dragged driver.Spot) (driver.Point, error) {
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
