// Package capture takes screenshots of a page, records it, and prints it.
//
// The tabs of a session share a window, in which only one tab is drawn. Front brings a page to the front while it is acted on or captured.
// Masked areas of a screenshot are painted over at their positions before and after the capture. A capture that cannot be painted over is
// refused.
package capture

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/documents"
)

// Capture takes the screenshots of one page.
type Capture struct {
	m     *Tab
	query *documents.Query
	front *Front
	// masked reports whether anything is masked in the page.
	masked func() bool
	// Screencast receives the frames of a recording from the page's loop.
	Casts Screencast
}

// New returns the Capture of a page. front belongs to the page's window.
func New(m *Tab, query *documents.Query, front *Front, masked func() bool) *Capture {
	return &Capture{m: m, query: query, front: front, masked: masked}
}

// maxPicture limits a picture's width and height in CSS pixels. Larger pictures run into the browser's own limits.
const maxPicture = 16384

// Screenshot takes a screenshot; see driver.Capturer.
func (c *Capture) Screenshot(ctx context.Context, s driver.ScreenshotOptions) ([]byte, error) {
	if c.masked() {
		return c.maskedScreenshot(ctx, s)
	}
	now, err := c.secrets(ctx)
	if err != nil {
		return nil, err
	}
	params, err := c.paramsOf(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case isInView(s, now.view):
		return c.paintedScreenshot(ctx, s, params, now)
	}
	return c.guarded(ctx, func() ([]byte, error) { return c.take(ctx, params) })
}

// paramsOf returns the parameters of a screenshot in a session without masks.
func (c *Capture) paramsOf(ctx context.Context, s driver.ScreenshotOptions) (params cdppage.CaptureScreenshotParams, err error) {
	params = cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormat(s.Format)}
	if s.Quality > 0 && s.Format != "png" {
		q := int64(s.Quality)
		params.Quality = &q
	}
	yes := true
	params.OptimizeForSpeed = &yes
	clip := s.Clip
	if s.FullPage || clip.Width > 0 {
		m, err := cdp.Call(ctx, c.m.Main, cdppage.GetLayoutMetrics, cdp.Empty{})
		if err != nil {
			return params, c.m.Failed(err)
		}
		params.CaptureBeyondViewport = &yes
		if s.FullPage {
			clip = dom.Box{Width: min(m.CSSContentSize.Width, maxPicture), Height: min(m.CSSContentSize.Height, maxPicture)}
		} else {
			clip.Width, clip.Height = min(clip.Width, maxPicture), min(clip.Height, maxPicture)
			clip.X += float64(m.CSSLayoutViewport.PageX)
			clip.Y += float64(m.CSSLayoutViewport.PageY)
		}
	}
	if clip.Width > 0 {
		params.Clip = &cdppage.Viewport{X: clip.X, Y: clip.Y, Width: clip.Width, Height: clip.Height, Scale: 1}
	}
	return params, nil
}

// take takes one screenshot.
func (c *Capture) take(ctx context.Context, params cdppage.CaptureScreenshotParams) ([]byte, error) {
	defer c.front.keep(ctx, c.m)()
	res, err := cdp.Call(ctx, c.m.Main, cdppage.CaptureScreenshot, params)
	if err != nil {
		return nil, c.m.Failed(err)
	}
	return res.Data, nil
}

// Extent returns the box of the whole page relative to the viewport; see driver.Capturer.
func (c *Capture) Extent(ctx context.Context) (whole dom.Box, width float64, err error) {
	m, err := cdp.Call(ctx, c.m.Main, cdppage.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return dom.Box{}, 0, c.m.Failed(err)
	}
	return dom.Box{
		X: -float64(m.CSSLayoutViewport.PageX), Y: -float64(m.CSSLayoutViewport.PageY),
		Width: min(m.CSSContentSize.Width, maxPicture), Height: min(m.CSSContentSize.Height, maxPicture),
	}, float64(m.CSSLayoutViewport.ClientWidth), nil
}
