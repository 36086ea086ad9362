package documents

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/observer"
)

// ScrollPosition returns the scroll positions of the page and of the boxes in its middle; see driver.Scroller.
func (q *Query) ScrollPosition(ctx context.Context) (driver.ScrollPosition, error) {
	a, err := q.m.Agent(ctx, "")
	if err != nil {
		return driver.ScrollPosition{}, err
	}
	var now observer.ScrollPosition
	if err := a.Call(ctx, "scrollPosition", nil, &now); err != nil {
		return driver.ScrollPosition{}, q.m.Failed(err)
	}
	out := driver.ScrollPosition{X: now.X, Y: now.Y}
	for _, b := range now.Boxes {
		out.Boxes = append(out.Boxes, driver.ScrolledBox(b))
	}
	return out, nil
}

// ScrollTo restores scroll positions; see driver.Scroller.
func (q *Query) ScrollTo(ctx context.Context, to driver.ScrollPosition, limit time.Duration) error {
	a, err := q.m.Agent(ctx, "")
	if err != nil {
		return err
	}
	request := observer.RestoreScroll{ScrollPosition: observer.ScrollPosition{X: to.X, Y: to.Y, Boxes: []observer.ScrolledBox{}}, Patience: limit.Milliseconds()}
	for _, b := range to.Boxes {
		request.Boxes = append(request.Boxes, observer.ScrolledBox(b))
	}
	if err := a.Call(ctx, "restoreScroll", request, nil); err != nil {
		return q.m.Failed(err)
	}
	return nil
}
