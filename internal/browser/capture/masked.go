package capture

import (
	"context"
	"errors"
	"reflect"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/redact"
)

// Unmasked returns an error if anything is masked. why is part of its message.
func (c *Capture) Unmasked(why string) error {
	if !c.masked() {
		return nil
	}
	return apierr.Errorf(apierr.NotActionable, "this session masks page content: %s", why)
}

// maskTries limits how often a screenshot is retaken because masked areas moved.
const maskTries = 4

// maskedScreenshot implements Screenshot in a session with masks. It shows the viewport or a part of it and paints over all masked areas,
// both before and after the capture. If their positions are uncertain, it returns an error.
func (c *Capture) maskedScreenshot(ctx context.Context, s driver.ScreenshotOptions) ([]byte, error) {
	switch {
	case s.FullPage:
		return nil, c.Unmasked("a full-page screenshot lays the page out again and would show masked content: take screenshots of the viewport, and scroll")
	case s.Format == "webp":
		return nil, c.Unmasked("masks cannot be drawn on WebP: use PNG or JPEG")
	}
	before, err := c.masks(ctx)
	if err != nil {
		return nil, err
	}
	for range maskTries {
		picture, err := c.take(ctx, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng})
		if err != nil {
			return nil, err
		}
		after, err := c.masks(ctx)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(before, after) {
			before = after
			continue
		}
		out, err := redact.Cover(picture, after.view, after.boxes, redact.Output{Clip: s.Clip, Format: s.Format, Quality: s.Quality})
		if errors.Is(err, redact.ErrOutside) {
			return nil, apierr.Errorf(apierr.NotActionable, "%v", err)
		}
		return out, err
	}
	return nil, &apierr.Error{Kind: apierr.Aborted, Message: "masked content is moving, so masks cannot be drawn: wait until the page settles, then try again"}
}

// covers lists the areas of the main document's viewport that must be painted over.
type covers struct {
	view  redact.View
	boxes []dom.Box
	// readable reports whether the page shows a secret as text, in the viewport or outside it.
	readable bool
}

// masks collects the masked areas of all documents in a session with masks. It covers a frame entirely if the frame contains a masked area
// at any depth, does not respond, or is unknown.
func (c *Capture) masks(ctx context.Context) (covers, error) {
	list := c.m.Readable()
	c.query.Probe(ctx, list) // Probe finds closed shadow trees
	answers, err := c.areas(ctx, list)
	if err != nil {
		return covers{}, err
	}
	main, known := answers[""]
	switch {
	case !known, main.Unmasked:
		return covers{}, errSilent()
	case main.More:
		return covers{}, apierr.Errorf(apierr.NotActionable, "the page has too many masked boxes for a screenshot: read it as text")
	case main.Zoom != 1:
		return covers{}, apierr.Errorf(apierr.NotActionable, "the page is zoomed, so masks cannot be drawn: read it as text")
	}
	out := covers{view: redact.View{Width: main.Width, Height: main.Height}}
	for _, b := range main.Boxes {
		out.boxes = append(out.boxes, box(b))
	}
	for _, f := range main.Frames {
		if !clean(answers, dom.FrameID(f.Name), 0) {
			out.boxes = append(out.boxes, box(f.Box))
		}
	}
	return out, nil
}

// errSilent returns the error for a page that did not respond.
func errSilent() error {
	return &apierr.Error{Kind: apierr.Aborted, Message: "the page did not report where masked content is, because it navigates or hangs: try again"}
}

// areas requests the masked areas of all documents. Documents that did not respond are missing in the result.
func (c *Capture) areas(ctx context.Context, list []frames.Readable) (map[dom.FrameID]observer.MaskedAreas, error) {
	answers := map[dom.FrameID]observer.MaskedAreas{}
	for _, o := range list {
		v, err := c.areasOf(ctx, o)
		if err == nil {
			answers[c.m.Tree.Key(o.ID)] = v
		} else if ctx.Err() != nil {
			return nil, c.m.Failed(err)
		}
	}
	return answers, nil
}

// box converts left, top, width and height to a Box.
func box(b [4]float64) dom.Box { return dom.Box{X: b[0], Y: b[1], Width: b[2], Height: b[3]} }

// areasOf requests the masked areas of one document.
func (c *Capture) areasOf(ctx context.Context, o frames.Readable) (v observer.MaskedAreas, err error) {
	if o.ID != cdp.FrameID(c.m.ID) {
		if c.m.IsLate(o.Agent) {
			return v, errors.New("the frame does not answer")
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, documents.FrameGrace)
		defer cancel()
	}
	if err = o.Agent.Call(ctx, "maskedBoxes", nil, &v); err == nil && v.Zoom == 0 {
		err = errors.New("the document did not answer")
	}
	return v, err
}

// maxNesting limits the depth of nested frames that are inspected.
const maxNesting = 16

// clean reports whether a frame and all frames in it have reported that they show nothing masked.
func clean(answers map[dom.FrameID]observer.MaskedAreas, id dom.FrameID, depth int) bool {
	v, known := answers[id]
	if id == "" || !known || v.More || len(v.Boxes) > 0 || depth > maxNesting {
		return false
	}
	for _, f := range v.Frames {
		if !clean(answers, dom.FrameID(f.Name), depth+1) {
			return false
		}
	}
	return true
}
