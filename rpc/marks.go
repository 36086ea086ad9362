package rpc

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/marks"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/rpc/views"
)

// seen is a view and a picture of it, taken in one turn of the tab.
type seen struct {
	now     *views.View
	layout  *dom.Layout
	picture []byte
	// clip is the part of the viewport that the picture shows.
	clip dom.Box
}

// see reads the view of a request and takes a picture.
func (s *pageService) see(ctx context.Context, tab *actor.Tab, request *domtapv1.GetCompactRequest, shot actor.Shot) (*seen, error) {
	sel := views.SelectionOf(request)
	read, picture, area, err := take(ctx, tab, request, sel.Read(true), shot)
	if err != nil {
		return nil, err
	}
	shared := s.server.views.Of(tab)
	var now *views.View
	if name := request.GetCursor(); name != "" {
		now, err = shared.Continue(read.Head, sel, name)
	} else {
		now, err = shared.At(read.Head, read.Head.Snapshot, sel)
	}
	if err != nil {
		return nil, err
	}
	return &seen{now: now, layout: read.Layout, picture: picture, clip: area}, nil
}

// take reads a tab and takes the picture of an element, of the whole page or of the viewport, and says what part of the
// viewport's plane it shows.
func take(ctx context.Context, tab *actor.Tab, r *domtapv1.GetCompactRequest, o actor.ReadOptions, shot actor.Shot) (actor.Reading, []byte, dom.Box, error) {
	switch {
	case r.RootRef != nil:
		return tab.Portrait(ctx, dom.Ref(r.GetRootRef()), o, shot)
	case shot.FullPage:
		return tab.Panorama(ctx, o, shot)
	}
	read, picture, err := tab.Look(ctx, o, shot)
	if err != nil {
		return read, nil, dom.Box{}, err
	}
	return read, picture, read.Layout.Viewport, nil
}

// marked is a picture with marks.
type marked struct {
	image []byte
	// scale is how many pixels make a CSS pixel.
	scale float64
	marks []*domtapv1.Mark
}

// mark draws the marks of the view's elements onto the picture, which is a PNG, and encodes it as "png" or "jpeg".
func (s *seen) mark(format string, quality int) (*marked, error) {
	picture, err := png.Decode(bytes.NewReader(s.picture))
	if err != nil {
		return nil, fmt.Errorf("read the browser's picture: %w", err)
	}
	out := &marked{scale: float64(picture.Bounds().Dx()) / max(s.clip.Width, 1)}
	placed := s.now.Placed(s.layout)
	var list []marks.Mark
	for i, e := range s.now.Elements() {
		box := placed.Boxes[i]
		if !box.Meets(s.clip) || box.Width <= 0 || box.Height <= 0 {
			continue
		}
		list = append(list, marks.Mark{Number: uint32(e.Ref), Box: pixels(box, s.clip, out.scale)})
		out.marks = append(out.marks, convert.Mark(placed.Messages[i]))
	}
	drawn, ours := picture.(*image.RGBA)
	if ours {
		marks.DrawOn(drawn, list, out.scale)
	} else {
		drawn, _ = marks.Draw(picture, list, out.scale)
	}
	out.image, err = encode(drawn, format, quality)
	return out, err
}

// pixels moves a box from the viewport to a picture of a part of it.
func pixels(box, clip dom.Box, scale float64) image.Rectangle {
	at := func(v float64) int { return int(math.Round(min(max(v*scale, -1e6), 1e6))) }
	return image.Rect(at(box.X-clip.X), at(box.Y-clip.Y), at(box.X-clip.X+box.Width), at(box.Y-clip.Y+box.Height))
}

// encode makes a file of a picture.
func encode(picture image.Image, format string, quality int) ([]byte, error) {
	var b bytes.Buffer
	var err error
	if format == "jpeg" {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture)
	}
	if err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return b.Bytes(), nil
}

// markedShot takes a picture with marks, of the viewport, of the whole page or of an element.
func (s *pageService) markedShot(ctx context.Context, tab *actor.Tab, r *domtapv1.ScreenshotRequest, shot actor.Shot) (*domtapv1.ScreenshotResponse, error) {
	format, unlimited := shot.Format, int32(0)
	shot.Format = "png"
	request := &domtapv1.GetCompactRequest{TabId: r.GetTabId(), ViewportOnly: r.Ref == nil && !shot.FullPage, MaxTokens: &unlimited, ClientId: readPage}
	if r.Ref != nil {
		request.RootRef = r.Ref
	}
	seen, err := s.see(ctx, tab, request, shot)
	if err != nil {
		return nil, err
	}
	out, err := seen.mark(format, shot.Quality)
	if err != nil {
		return nil, err
	}
	kind := domtapv1.ImageFormat_IMAGE_FORMAT_PNG
	if format == "jpeg" {
		kind = domtapv1.ImageFormat_IMAGE_FORMAT_JPEG
	}
	return &domtapv1.ScreenshotResponse{Image: out.image, Format: kind, Marks: out.marks}, nil
}
