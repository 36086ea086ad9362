package pages

import (
	"context"

	"github.com/domtap/domtap/actor"
	tabcapture "github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/tabview/capture"
	"github.com/domtap/domtap/internal/server/tabview/reading"
)

// defaultQuality is the default quality of a JPEG or WEBP.
const defaultQuality = 80

// Screenshot takes a screenshot of the page, or of one element.
func (s *Service) Screenshot(ctx context.Context, r *domtapv1.ScreenshotRequest) (*domtapv1.ScreenshotResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	if s.Replay != nil {
		picture, err := s.Replay.Picture(r.GetTabId(), r.GetAt())
		if err != nil {
			return nil, err
		}
		return &domtapv1.ScreenshotResponse{Image: picture.GetData(), Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, PageWidth: picture.GetPageWidth()}, nil
	}
	if r.GetAt() != nil {
		return nil, replay.Refusal()
	}
	shot, format := shotOf(r)
	if r.GetMarks() {
		return s.annotatedShot(ctx, tab, r, shot)
	}
	resp := &domtapv1.ScreenshotResponse{Format: format}
	switch {
	case r.Ref != nil:
		_, resp.Image, _, err = tabcapture.Element(ctx, tab, dom.Ref(r.GetRef()), actor.ReadOptions{}, shot)
	case shot.FullPage:
		resp.Image, err = tabcapture.Screenshot(ctx, tab, shot)
	default:
		var ratio float64
		if resp.Image, ratio, err = tabcapture.Scaled(ctx, tab, shot); err == nil {
			resp.PixelRatio = ratio
		}
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func shotOf(r *domtapv1.ScreenshotRequest) (driver.ScreenshotOptions, domtapv1.ImageFormat) {
	shot := driver.ScreenshotOptions{FullPage: r.GetFullPage(), Quality: defaultQuality}
	if r.Quality != nil {
		shot.Quality = int(r.GetQuality())
	}
	switch format := r.GetFormat(); format {
	case domtapv1.ImageFormat_IMAGE_FORMAT_JPEG:
		shot.Format = "jpeg"
		return shot, format
	case domtapv1.ImageFormat_IMAGE_FORMAT_WEBP:
		shot.Format = "webp"
		return shot, format
	}
	shot.Format, shot.Quality = "png", 0
	return shot, domtapv1.ImageFormat_IMAGE_FORMAT_PNG
}

// annotatedShot takes a screenshot with refs. It shows the viewport, the whole page or an element.
func (s *Service) annotatedShot(ctx context.Context, tab *actor.Tab, r *domtapv1.ScreenshotRequest, shot driver.ScreenshotOptions) (*domtapv1.ScreenshotResponse, error) {
	format, unlimited := shot.Format, int32(0)
	shot.Format = "png"
	request := &domtapv1.GetCompactRequest{TabId: r.GetTabId(), ViewportOnly: r.Ref == nil && !shot.FullPage, MaxTokens: &unlimited, ClientId: reading.ForReadPage}
	if r.Ref != nil {
		request.RootRef = r.Ref
	}
	taken, err := capture.Take(ctx, tab, s.Views.Of(tab), request, shot)
	if err != nil {
		return nil, err
	}
	out, err := taken.Annotate(format, shot.Quality)
	if err != nil {
		return nil, err
	}
	kind := domtapv1.ImageFormat_IMAGE_FORMAT_PNG
	if format == "jpeg" {
		kind = domtapv1.ImageFormat_IMAGE_FORMAT_JPEG
	}
	return &domtapv1.ScreenshotResponse{Image: out.Image, Format: kind, Marks: out.Marks, PixelRatio: out.Scale}, nil
}
