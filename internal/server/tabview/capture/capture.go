// Package capture takes screenshots together with a view of the page, and draws the refs of the view's elements onto them.
package capture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/annotate"
	"github.com/domtap/domtap/internal/server/tabview"
)

// Capture is a view and a matching screenshot, taken in one turn of the tab.
type Capture struct {
	View   *tabview.View
	Layout *dom.Layout
	// PNG is the screenshot.
	PNG []byte
	// Clip is the area of the screenshot, in viewport coordinates.
	Clip dom.Box
}

// Take reads the view that the request selects and takes a screenshot. shot must select PNG.
func Take(ctx context.Context, tab *actor.Tab, shared *tabview.Tab, request *domtapv1.GetCompactRequest, shot driver.ScreenshotOptions) (*Capture, error) {
	sel := tabview.SelectionOf(request)
	read, picture, clip, err := take(ctx, tab, request, sel.Read(true), shot)
	if err != nil {
		return nil, err
	}
	var now *tabview.View
	if name := request.GetCursor(); name != "" {
		now, err = shared.Continue(read.Head, sel, name)
	} else {
		now, err = shared.At(read.Head, read.Head.Snapshot, sel)
	}
	if err != nil {
		return nil, err
	}
	return &Capture{View: now, Layout: read.Layout, PNG: picture, Clip: clip}, nil
}

// take reads a tab and takes a screenshot of an element, the whole page or the viewport. The returned box is the area of the screenshot, in
// viewport coordinates.
func take(ctx context.Context, tab *actor.Tab, r *domtapv1.GetCompactRequest, o actor.ReadOptions, shot driver.ScreenshotOptions) (actor.Reading, []byte, dom.Box, error) {
	switch {
	case r.RootRef != nil:
		return capture.Element(ctx, tab, dom.Ref(r.GetRootRef()), o, shot)
	case shot.FullPage:
		return capture.FullPage(ctx, tab, o, shot)
	}
	read, picture, err := capture.ReadAndScreenshot(ctx, tab, o, shot)
	if err != nil {
		return read, nil, dom.Box{}, err
	}
	return read, picture, read.Layout.Viewport, nil
}

// Annotated is a screenshot with the refs of elements drawn onto it.
type Annotated struct {
	Image []byte
	// Scale is the number of pixels per CSS pixel.
	Scale float64
	// Marks lists the elements whose refs are drawn.
	Marks []*domtapv1.Mark
}

// Annotate draws the refs of the view's elements onto the screenshot and encodes it as "png" or "jpeg".
func (c *Capture) Annotate(format string, quality int) (*Annotated, error) {
	picture, err := png.Decode(bytes.NewReader(c.PNG))
	if err != nil {
		return nil, fmt.Errorf("decode the screenshot: %w", err)
	}
	out := &Annotated{Scale: float64(picture.Bounds().Dx()) / max(c.Clip.Width, 1)}
	placed := c.View.WithBoxes(c.Layout)
	var list []annotate.Box
	for i, e := range c.View.Elements() {
		box := placed.Boxes[i]
		if !box.Meets(c.Clip) || box.Width <= 0 || box.Height <= 0 {
			continue
		}
		list = append(list, annotate.Box{Number: uint32(e.Ref), Bounds: pixels(box, c.Clip, out.Scale)})
		out.Marks = append(out.Marks, markOf(placed.Messages[i]))
	}
	drawn, ours := picture.(*image.RGBA)
	if ours {
		annotate.DrawOn(drawn, list, out.Scale)
	} else {
		drawn, _ = annotate.Draw(picture, list, out.Scale)
	}
	out.Image, err = encode(drawn, format, quality)
	return out, err
}

// markOf returns the mark of an element with a box.
func markOf(e *domtapv1.Element) *domtapv1.Mark {
	return &domtapv1.Mark{Ref: e.GetRef(), Rect: e.GetRect(), Name: e.GetText()}
}

// pixels converts a box in viewport coordinates to pixels of a screenshot of clip.
func pixels(box, clip dom.Box, scale float64) image.Rectangle {
	at := func(v float64) int { return int(math.Round(min(max(v*scale, -1e6), 1e6))) }
	return image.Rect(at(box.X-clip.X), at(box.Y-clip.Y), at(box.X-clip.X+box.Width), at(box.Y-clip.Y+box.Height))
}

// encode encodes a picture as "jpeg" or as PNG.
func encode(picture image.Image, format string, quality int) ([]byte, error) {
	var b bytes.Buffer
	var err error
	if format == "jpeg" {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the screenshot: %w", err)
	}
	return b.Bytes(), nil
}
