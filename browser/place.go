package browser

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/page"
)

// Place implements actor.Placer.
func (p *Page) Place(ctx context.Context) (actor.Place, error) {
	agent, err := p.waitAgent(ctx, "")
	if err != nil {
		return actor.Place{}, err
	}
	var now page.Place
	if err := agent.call(ctx, "scrolled", nil, &now); err != nil {
		return actor.Place{}, p.failed(err)
	}
	out := actor.Place{X: now.X, Y: now.Y}
	for _, b := range now.Boxes {
		out.Boxes = append(out.Boxes, actor.PlaceBox(b))
	}
	return out, nil
}

// Return implements actor.Placer.
func (p *Page) Return(ctx context.Context, to actor.Place, limit time.Duration) error {
	agent, err := p.waitAgent(ctx, "")
	if err != nil {
		return err
	}
	request := page.ReturnRequest{Place: page.Place{X: to.X, Y: to.Y, Boxes: []page.PlaceBox{}}, Patience: limit.Milliseconds()}
	for _, b := range to.Boxes {
		request.Boxes = append(request.Boxes, page.PlaceBox(b))
	}
	if err := agent.call(ctx, "scrollBack", request, nil); err != nil {
		return p.failed(err)
	}
	return nil
}
