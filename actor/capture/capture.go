// Package capture draws a tab's page: the viewport, the whole page, one element, or a PDF.
//
// Each function is one call on the tab, so nothing that domtap does comes between the read and the picture; the page
// itself may move in between. Errors are those of actor.Tab.Read.
package capture

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // what pictures are, for DecodeConfig
	_ "image/png"
	"math"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// revealLimit is how long frames may take to scroll.
const revealLimit = 500 * time.Millisecond

// picture is what one command answers: a caller that has gone must share no variable with a command that goes on.
type picture struct {
	reading actor.Reading
	image   []byte
	area    dom.Box
}

// Screenshot takes a picture of the page. It fails with an *apierr.Error: DialogOpen while a dialog blocks the
// page, Lost after a crash.
func Screenshot(ctx context.Context, tab *actor.Tab, s driver.Shot) ([]byte, error) {
	return actor.Do(ctx, tab, command("screenshot"), func(ctx context.Context, x *actor.Exclusive) ([]byte, error) {
		return x.Screenshot(ctx, s)
	})
}

// Scaled is Screenshot of the viewport as PNG or JPEG, with how many pixels make one CSS pixel: the device scale factor; 0: unknown, as of WEBP.
func Scaled(ctx context.Context, tab *actor.Tab, s driver.Shot) (taken []byte, ratio float64, err error) {
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

// ratioOf is how many pixels of a picture make one of a viewport's width. A scrollbar is in the picture, and not in the width: a ratio that is
// hardly more than a whole number is that number.
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

// ReadAndScreenshot reads the DOM and takes a picture in one call.
func ReadAndScreenshot(ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.Shot) (actor.Reading, []byte, error) {
	out, err := actor.Do(ctx, tab, command("look"), func(ctx context.Context, x *actor.Exclusive) (out picture, err error) {
		if out.reading, err = x.Read(ctx, o); err != nil {
			return picture{}, err
		}
		out.image, err = x.Screenshot(ctx, s)
		return out, err
	})
	return out.reading, out.image, err
}

// FullPage is ReadAndScreenshot for the whole page; the box is the part of the viewport's plane that the picture shows.
func FullPage(ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.Shot) (actor.Reading, []byte, dom.Box, error) {
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

// Element takes a picture of one element; the box is the part of the viewport's plane that the picture shows. An element that is
// not wholly in view is scrolled there first, in every frame and box that scrolls, so that it is drawn; what a frame
// cuts off of it is not in the picture. It also fails with an *apierr.Error of kind Stale, Invalid or NotActionable for the element.
func Element(ctx context.Context, tab *actor.Tab, ref dom.Ref, o actor.ReadOptions, s driver.Shot) (actor.Reading, []byte, dom.Box, error) {
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

// pictureOf takes a picture of the area that locate finds.
func pictureOf(
	ctx context.Context, tab *actor.Tab, o actor.ReadOptions, s driver.Shot,
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

// inView reads the page, brings an element into view, and returns the part of it that can be seen.
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
		return r, box, apierr.Errorf(apierr.NotActionable, "the element of ref %d has no box to show: take a picture of the page", ref)
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
		return page.Settle(ctx, at.Frame, revealLimit, false) // frames of other processes scroll each at its own time
	})
}

// visible is the box of an element, without what the frames that it stands in cut off.
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

// overlap is what two boxes share.
func overlap(a, b dom.Box) dom.Box {
	x, y := max(a.X, b.X), max(a.Y, b.Y)
	return dom.Box{X: x, Y: y, Width: max(min(a.X+a.Width, b.X+b.Width)-x, 0), Height: max(min(a.Y+a.Height, b.Y+b.Height)-y, 0)}
}

// within reports whether a box is wholly in another.
func within(a, b dom.Box) bool { return a.Width > 0 && a.Height > 0 && overlap(a, b) == a }
