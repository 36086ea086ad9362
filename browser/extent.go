package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/dom"
)

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
