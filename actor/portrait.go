package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// revealLimit is how long frames may take to scroll.
const revealLimit = 500 * time.Millisecond

// Portrait takes a picture of one element, and says what part of the viewport's plane it shows. An element that is
// not wholly in view is scrolled there first, in every frame and box that scrolls, so that it is drawn; what a frame
// cuts off of it is not in the picture. The options are those of the Reading. Errors are those of Look, and *Error of
// kind Stale, Invalid or NotActionable for the element.
func (t *Tab) Portrait(ctx context.Context, ref dom.Ref, o ReadOptions, s driver.Shot) (Reading, []byte, dom.Box, error) {
	var picture []byte
	var area dom.Box
	o.Geometry = true
	r, err := Do(ctx, t, Command{Name: "screenshot", ReadOnly: true}, func(ctx context.Context, _ *Exclusive) (r Reading, err error) {
		if r, area, err = t.inView(ctx, ref, o); err != nil {
			return r, err
		}
		s.FullPage, s.Clip = false, area
		picture, err = t.picture(ctx, s)
		return r, err
	})
	return r, picture, area, err
}

// inView reads the page, brings an element into view, and returns the part of it that can be seen.
func (t *Tab) inView(ctx context.Context, ref dom.Ref, o ReadOptions) (Reading, dom.Box, error) {
	r, err := t.read(ctx, o)
	if err != nil {
		return r, dom.Box{}, err
	}
	el, err := r.Head.Element(ref)
	if err != nil {
		return r, dom.Box{}, err
	}
	if !within(r.visible(el), r.Layout.Viewport) || el.Frame != "" {
		t.flush()
		frame, document, _ := t.model.Where(ref)
		err := t.query(ctx, func(ctx context.Context) error {
			if err := t.page().Reveal(ctx, ref, frame, document); err != nil || frame == "" {
				return err
			}
			return t.page().Settle(ctx, frame, revealLimit) // frames of other processes scroll each at its own time
		})
		if err != nil {
			return r, dom.Box{}, err
		}
		if r, err = t.read(ctx, o); err != nil {
			return r, dom.Box{}, err
		}
		if el, err = r.Head.Element(ref); err != nil {
			return r, dom.Box{}, err
		}
	}
	box := r.visible(el)
	if box.Width <= 0 || box.Height <= 0 {
		return r, box, apierr.Errorf(apierr.NotActionable, "the element of ref %d has no box to show: take a picture of the page", ref)
	}
	return r, box, nil
}

// visible is the box of an element, without what the frames that it stands in cut off.
func (r *Reading) visible(el *dom.Element) dom.Box {
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

// Panorama is Look for the whole page; it says what part of the viewport's plane the picture shows.
func (t *Tab) Panorama(ctx context.Context, o ReadOptions, s driver.Shot) (Reading, []byte, dom.Box, error) {
	var picture []byte
	var area dom.Box
	o.Geometry = true
	r, err := Do(ctx, t, Command{Name: "screenshot", ReadOnly: true}, func(ctx context.Context, _ *Exclusive) (r Reading, err error) {
		if r, err = t.read(ctx, o); err != nil {
			return r, err
		}
		err = t.query(ctx, func(ctx context.Context) (err error) {
			area, err = t.page().Extent(ctx)
			return err
		})
		if err != nil {
			return r, err
		}
		s.FullPage, s.Clip = false, area
		picture, err = t.picture(ctx, s)
		return r, err
	})
	return r, picture, area, err
}
