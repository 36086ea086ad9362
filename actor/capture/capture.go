// Package capture captures a tab's page: the viewport, the whole page, one element, or a PDF.
//
// Each function is one call on the tab, so no other call acts between the read and the screenshot. The page itself may change in between.
// The functions return the errors of actor.Tab.Read.
package capture

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // for DecodeConfig
	_ "image/png"
	"math"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// revealLimit limits how long frames may take to scroll.
const revealLimit = 500 * time.Millisecond

// picture is the result of one call. It is not a variable of the caller, because the call may continue after the caller has gone.
type picture struct {
	reading actor.Reading
	image   []byte
	area    dom.Box
}

// Screenshot captures the viewport. It fails with an *apierr.Error of kind DialogOpen while a dialog blocks the page, or Lost after a
// crash.
func Screenshot(ctx context.Context, tab *actor.Tab, s driver.ScreenshotOptions) ([]byte, error) {
	return actor.Do(ctx, tab, command("screenshot"), func(ctx context.Context, x *actor.Exclusive) ([]byte, error) {
		return x.Screenshot(ctx, s)
	})
}

// Scaled captures the viewport as PNG or JPEG and also returns the device scale factor: the number of picture pixels per CSS pixel. It is 0
// if unknown, as for WebP.
func Scaled(ctx context.Context, tab *actor.Tab, s driver.ScreenshotOptions) (taken []byte, ratio float64, err error) {
	type scaled struct {
		image []byte
		width float64
	}
	out, err := actor.Do(ctx, tab, command("screenshot"), func(ctx context.Context, x *actor.Exclusive) (out scaled, err error) {
		if out.image, err = x.Screenshot(ctx, s); err != nil {
			return out, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			_, out.width, err = page.Extent(ctx)
			return err
		})
		return out, err
	})
	return out.image, ratioOf(out.image, out.width), err
}

// ratioOf returns the number of picture pixels per CSS pixel of the viewport's width. The picture includes a scrollbar, the width does not,
// so a ratio slightly above a whole number is rounded down to it.
func ratioOf(picture []byte, width float64) float64 {
	size, _, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil || width <= 0 {
		return 0
	}
	ratio := float64(size.Width) / width
	if whole := math.Floor(ratio); whole >= 1 && ratio < 1.04*whole {
		return whole
	}
	return ratio
}

// ReadAndScreenshot reads the DOM and captures the viewport in one call.
func ReadAndScreenshot(ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.ScreenshotOptions) (actor.Reading, []byte, error) {
	out, err := actor.Do(ctx, tab, command("look"), func(ctx context.Context, x *actor.Exclusive) (out picture, err error) {
		if out.reading, err = x.Read(ctx, o); err != nil {
			return picture{}, err
		}
		out.image, err = x.Screenshot(ctx, s)
		return out, err
	})
	return out.reading, out.image, err
}

// FullPage works like ReadAndScreenshot, but captures the whole page. The box is the captured area in viewport coordinates.
func FullPage(ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.ScreenshotOptions) (actor.Reading, []byte, dom.Box, error) {
	return pictureOf(ctx, tab, o, s, func(ctx context.Context, x *actor.Exclusive, o actor.ReadOptions) (r actor.Reading, area dom.Box, err error) {
		if r, err = x.Read(ctx, o); err != nil {
			return r, area, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			area, _, err = page.Extent(ctx)
			return err
		})
		return r, area, err
	})
}

// Element captures one element. The box is the captured area in viewport coordinates. An element that is not completely in view is first
// scrolled into view, in all frames and scroll containers, so that it is rendered. The picture excludes parts that a frame clips. Element
// also fails with an *apierr.Error of kind Stale, Invalid or NotActionable for the element.
func Element(ctx context.Context, tab *actor.Tab, ref dom.Ref, o actor.ReadOptions, s driver.ScreenshotOptions) (actor.Reading, []byte, dom.Box, error) {
	return pictureOf(ctx, tab, o, s, func(ctx context.Context, x *actor.Exclusive, o actor.ReadOptions) (actor.Reading, dom.Box, error) {
		return inView(ctx, x, ref, o)
	})
}

// PDF prints the page.
func PDF(ctx context.Context, tab *actor.Tab, p driver.PrintOptions) ([]byte, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "print"}, func(ctx context.Context, x *actor.Exclusive) (pdf []byte, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			pdf, err = page.Print(ctx, p)
			return err
		})
		return pdf, err
	})
}

func command(name string) actor.Command { return actor.Command{Name: name, ReadOnly: true} }

// pictureOf captures the area that locate returns.
func pictureOf(
	ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.ScreenshotOptions,
	locate func(context.Context, *actor.Exclusive, actor.ReadOptions) (actor.Reading, dom.Box, error),
) (actor.Reading, []byte, dom.Box, error) {
	o.Geometry = true
	out, err := actor.Do(ctx, tab, command("screenshot"), func(ctx context.Context, x *actor.Exclusive) (out picture, err error) {
		if out.reading, out.area, err = locate(ctx, x, o); err != nil {
			return out, err
		}
		s.FullPage, s.Clip = false, out.area
		out.image, err = x.Screenshot(ctx, s)
		return out, err
	})
	return out.reading, out.image, out.area, err
}

// inView reads the page, scrolls an element into view, and returns its visible part.
func inView(ctx context.Context, x *actor.Exclusive, ref dom.Ref, o actor.ReadOptions) (r actor.Reading, box dom.Box, err error) {
	if r, err = x.Read(ctx, o); err != nil {
		return r, box, err
	}
	el, err := r.Head.Element(ref)
	if err != nil {
		return r, box, err
	}
	if !within(visible(r, el), r.Layout.Viewport) || el.Frame != "" {
		if err := reveal(ctx, x, ref); err != nil {
			return r, box, err
		}
		if r, err = x.Read(ctx, o); err != nil {
			return r, box, err
		}
		if el, err = r.Head.Element(ref); err != nil {
			return r, box, err
		}
	}
	if box = visible(r, el); box.Width <= 0 || box.Height <= 0 {
		return r, box, apierr.Errorf(apierr.NotActionable, "the element of ref %d has no box on the page: take a screenshot of the page instead", ref)
	}
	return r, box, nil
}

// reveal scrolls an element into view.
func reveal(ctx context.Context, x *actor.Exclusive, ref dom.Ref) error {
	at := x.Where(ref)
	return x.Query(ctx, func(ctx context.Context, page driver.Page) error {
		if err := page.Reveal(ctx, at); err != nil || at.Frame == "" {
			return err
		}
		return page.Settle(ctx, at.Frame, revealLimit, false) // frames in other processes scroll asynchronously
	})
}

// visible returns the box of an element, clipped to the frames that contain it.
func visible(r actor.Reading, el *dom.Element) dom.Box {
	var box dom.Box
	elements := r.Head.Snapshot.Elements.Slice()
	for i, e := range elements {
		if e == el && i < len(r.Layout.Boxes) {
			box = r.Layout.Boxes[i]
		}
	}
	for frame, depth := el.Frame, 0; frame != "" && depth < 32; depth++ {
		up := dom.FrameID("")
		for i, e := range elements {
			if e.Child == frame && i < len(r.Layout.Boxes) {
				box, up = overlap(box, r.Layout.Boxes[i]), e.Frame
			}
		}
		frame = up
	}
	return box
}

// overlap returns the intersection of two boxes.
func overlap(a, b dom.Box) dom.Box {
	x, y := max(a.X, b.X), max(a.Y, b.Y)
	return dom.Box{X: x, Y: y, Width: max(min(a.X+a.Width, b.X+b.Width)-x, 0), Height: max(min(a.Y+a.Height, b.Y+b.Height)-y, 0)}
}

// within reports whether a is completely inside b.
func within(a, b dom.Box) bool { return a.Width > 0 && a.Height > 0 && overlap(a, b) == a }
