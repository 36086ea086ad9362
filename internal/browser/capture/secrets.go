package capture

import (
	"context"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/redact"
)

// secrets collects the areas of secret fields with values from the documents of a session without masks. A frame that does not respond
// counts as having none, so that a hanging frame does not hide the rest of the page.
func (c *Capture) secrets(ctx context.Context) (covers, error) {
	list := c.m.Readable()
	answers, err := c.areas(ctx, list)
	if err != nil {
		return covers{}, err
	}
	main, known := answers[""]
	if !known {
		for _, o := range list {
			if o.ID == cdp.FrameID(c.m.ID) {
				return covers{}, errSilent()
			}
		}
		return covers{}, nil // the main document has no observer, as in a viewer
	}
	out := covers{view: redact.View{Width: main.Width, Height: main.Height}}
	out.add(answers, "", dom.Box{}, 0)
	if len(out.boxes) > 0 && main.Zoom != 1 {
		return covers{}, apierr.Errorf(apierr.NotActionable, "the page is zoomed, so masks cannot be drawn over its secrets: read it as text")
	}
	return out, nil
}

// add adds the boxes of a document and of the frames in it. The document's viewport starts at the given position.
func (c *covers) add(answers map[dom.FrameID]observer.MaskedAreas, id dom.FrameID, at dom.Box, depth int) {
	v := answers[id]
	c.readable = c.readable || v.Readable || v.More
	for _, b := range v.Boxes {
		b[0], b[1] = b[0]+at.X, b[1]+at.Y
		c.boxes = append(c.boxes, box(b))
	}
	if depth > maxNesting {
		return
	}
	for _, f := range v.Frames {
		name := dom.FrameID(f.Name)
		if _, known := answers[name]; name == "" || !known {
			continue
		}
		if f.At != nil {
			c.add(answers, name, dom.Box{X: at.X + f.At[0], Y: at.Y + f.At[1]}, depth+1)
			continue
		}
		inner := covers{}
		inner.add(answers, name, dom.Box{}, depth+1)
		c.readable = c.readable || inner.readable
		if len(inner.boxes) > 0 {
			f.Box[0], f.Box[1] = f.Box[0]+at.X, f.Box[1]+at.Y
			c.boxes = append(c.boxes, box(f.Box))
		}
	}
}

// equal reports whether both cover the same areas.
func (c covers) equal(o covers) bool {
	return c.view == o.view && c.readable == o.readable && slices.Equal(c.boxes, o.boxes)
}

// during returns the areas to cover before and after, and the boxes that span both positions.
func (c covers) during(after covers) []dom.Box {
	all := slices.Concat(c.boxes, after.boxes)
	if len(c.boxes) == len(after.boxes) {
		for i, a := range c.boxes {
			b := after.boxes[i]
			x, y := min(a.X, b.X), min(a.Y, b.Y)
			all = append(all, dom.Box{X: x, Y: y, Width: max(a.X+a.Width, b.X+b.Width) - x, Height: max(a.Y+a.Height, b.Y+b.Height) - y})
		}
	}
	return all
}

// unreadable returns an error if a picture that cannot be painted over would show a secret.
func (c *Capture) unreadable(ctx context.Context) error {
	now, err := c.secrets(ctx)
	if err == nil && now.readable {
		err = apierr.Errorf(apierr.NotActionable,
			"the page shows a secret, such as a password as text, which domtap masks only in PNG and JPEG screenshots of the viewport: take one of these, or make the page hide the secret")
	}
	return err
}

// guarded makes a capture that cannot be painted over. It returns the capture only if no secret was readable before and after.
func (c *Capture) guarded(ctx context.Context, take func() ([]byte, error)) ([]byte, error) {
	if err := c.unreadable(ctx); err != nil {
		return nil, err
	}
	out, err := take()
	if err == nil {
		err = c.unreadable(ctx)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// paintedScreenshot takes a screenshot of the viewport or a part of it in a session without masks. It paints over secret fields with
// values.
func (c *Capture) paintedScreenshot(ctx context.Context, s driver.ScreenshotOptions, params cdppage.CaptureScreenshotParams, before covers) (_ []byte, err error) {
	for try := 0; err == nil; try++ {
		plain, picture, after := len(before.boxes) == 0, []byte(nil), covers{}
		now := params
		if !plain {
			now = cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng}
		}
		if picture, err = c.take(ctx, now); err != nil {
			break
		}
		if after, err = c.secrets(ctx); err != nil {
			break
		}
		if plain && len(after.boxes) == 0 {
			return picture, nil
		}
		if !plain && (before.equal(after) || try+1 >= maskTries) && after.view.Width > 0 {
			return redact.Cover(picture, after.view, before.during(after), redact.Output{Clip: s.Clip, Format: s.Format, Quality: s.Quality})
		}
		before = after
	}
	return nil, err
}

// isInView reports whether a screenshot lies within the viewport and can be painted over.
func isInView(s driver.ScreenshotOptions, view redact.View) bool {
	c := s.Clip
	return !s.FullPage && s.Format != "webp" &&
		(c.Width <= 0 || (c.X >= 0 && c.Y >= 0 && c.X+c.Width <= view.Width && c.Y+c.Height <= view.Height))
}
