package rpc

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/check"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/rpc/views"
	"github.com/domtap/domtap/tokens"
)

// defaultQuality is the quality of a lossy picture when the request leaves it unset.
const defaultQuality = 80

type pageService struct {
	domtapv1.UnimplementedPageServiceServer
	server *Server
}

// Screenshot takes a picture of the page, or of one element.
func (s *pageService) Screenshot(ctx context.Context, r *domtapv1.ScreenshotRequest) (*domtapv1.ScreenshotResponse, error) {
	tab, err := s.server.pool.Tab(r.GetTabId())
	if err != nil {
		return nil, err
	}
	shot, format := shotOf(r)
	if r.Ref != nil {
		if shot.Clip, err = boxOf(ctx, tab, dom.Ref(r.GetRef())); err != nil {
			return nil, err
		}
	}
	if r.GetMarks() {
		return s.markedShot(ctx, tab, r, shot)
	}
	image, err := tab.Screenshot(ctx, shot)
	if err != nil {
		return nil, err
	}
	return &domtapv1.ScreenshotResponse{Image: image, Format: format}, nil
}

func shotOf(r *domtapv1.ScreenshotRequest) (actor.Shot, domtapv1.ImageFormat) {
	shot := actor.Shot{FullPage: r.GetFullPage(), Quality: defaultQuality}
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

// boxOf returns the box of an element as it is now.
func boxOf(ctx context.Context, tab *actor.Tab, ref dom.Ref) (dom.Box, error) {
	reading, err := tab.Read(ctx, actor.ReadOptions{Geometry: true})
	if err != nil {
		return dom.Box{}, err
	}
	element, err := reading.Head.Element(ref)
	if err != nil {
		return dom.Box{}, err
	}
	box := views.BoxesOf([]*dom.Element{element}, reading.Head.Snapshot.Elements.Slice(), reading.Layout)[0]
	if box.Width <= 0 || box.Height <= 0 {
		return dom.Box{}, actor.Errorf(actor.NotActionable, "the element of ref %d has no box to show: take a picture of the page", ref)
	}
	return box, nil
}

// Pdf is not there yet.
func (s *pageService) Pdf(context.Context, *domtapv1.PdfRequest) (*domtapv1.PdfResponse, error) {
	return nil, &check.Unsupported{Field: "Pdf", Instead: "use Screenshot with full_page"}
}

// Extract is not there yet.
func (s *pageService) Extract(context.Context, *domtapv1.ExtractRequest) (*domtapv1.ExtractResponse, error) {
	return nil, &check.Unsupported{Field: "Extract", Instead: "use GetDom, and select on the client"}
}

// Batch is not there yet.
func (s *pageService) Batch(context.Context, *domtapv1.BatchRequest) (*domtapv1.BatchResponse, error) {
	return nil, &check.Unsupported{Field: "Batch", Instead: "open a tab for each URL"}
}

// Evaluate is off.
func (s *pageService) Evaluate(context.Context, *domtapv1.EvaluateRequest) (*domtapv1.EvaluateResponse, error) {
	return nil, newStatus(codes.PermissionDenied,
		"Evaluate is off, and this version has no flag to switch it on: read with GetDom, act with Interact",
		info("EVALUATE_OFF", nil))
}

type contextService struct {
	domtapv1.UnimplementedContextServiceServer
	server *Server
}

// PruneTranscript is not there yet.
func (s *contextService) PruneTranscript(context.Context, *domtapv1.PruneTranscriptRequest) (*domtapv1.PruneTranscriptResponse, error) {
	return nil, &check.Unsupported{Field: "PruneTranscript", Instead: "drop all but the newest snapshot of a page on the client"}
}

// CountTokens counts the tokens of a text.
func (s *contextService) CountTokens(_ context.Context, r *domtapv1.CountTokensRequest) (*domtapv1.CountTokensResponse, error) {
	return &domtapv1.CountTokensResponse{Tokens: int32(tokens.Count(r.GetText())), Tokenizer: tokens.Name}, nil
}

// GetHistory lists the pages that a tab showed.
func (s *contextService) GetHistory(_ context.Context, r *domtapv1.GetHistoryRequest) (*domtapv1.GetHistoryResponse, error) {
	tab, err := s.server.pool.Tab(r.GetTabId())
	if err != nil {
		return nil, err
	}
	return &domtapv1.GetHistoryResponse{Entries: convert.History(tab.History())}, nil
}
