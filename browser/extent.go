package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
)

// Reveal implements actor.Seer.
func (p *Page) Reveal(ctx context.Context, ref dom.Ref, frame dom.FrameID, document string) error {
	agent, err := p.waitAgent(ctx, frame)
	if err != nil {
		return err
	}
	shown := false
	if document == "" || agent.document == document {
		err = agent.call(ctx, "reveal", refArgument{Ref: uint32(ref)}, &shown)
	}
	switch {
	case err != nil:
		return p.failed(err)
	case !shown:
		return actor.Errorf(actor.Stale, "ref %d is gone from the page: read the page again and use a new ref", ref)
	}
	return nil
}

// Extent implements actor.Seer.
func (p *Page) Extent(ctx context.Context) (dom.Box, error) {
	m, err := cdp.Call(ctx, p.main, cdppage.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return dom.Box{}, p.failed(err)
	}
	return dom.Box{
		X: -float64(m.CSSLayoutViewport.PageX), Y: -float64(m.CSSLayoutViewport.PageY),
		Width: min(m.CSSContentSize.Width, maxPicture), Height: min(m.CSSContentSize.Height, maxPicture),
	}, nil
}
