package browser

import (
	"context"
	"errors"
	"reflect"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/sessions"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/browser/veil"
	"github.com/domtap/domtap/dom"
)

// masks are what is masked in the context's pages.
func (c *Context) masks() sessions.Mask { return c.browser.mask.With(c.mask) }

// script is what runs in every document of the context's pages.
func (c *Context) script() string {
	if c.source != "" {
		return c.source
	}
	return c.browser.script
}

// masking is the source to run where a mask is in force.
func masking(limits page.Limits, m sessions.Mask) string {
	if m.IsZero() {
		return limits.Script()
	}
	return limits.Masked(&page.Masks{Selectors: m.Selectors, Values: m.Values})
}

// unmasked fails where something is masked.
func (p *Page) unmasked(why string) error {
	if p.context.masks().IsZero() {
		return nil
	}
	return actor.Errorf(actor.NotActionable, "this session masks what its pages hold: %s", why)
}

// veilTries is how often a picture is taken anew because something masked moved meanwhile.
const veilTries = 4

// veiledShot is Screenshot where something is masked: it shows the viewport or a part of it, painted over wherever something
// masked was before and after the picture was taken. It fails rather than show what it is not sure of.
func (p *Page) veiledShot(ctx context.Context, s actor.Shot) ([]byte, error) {
	switch {
	case s.FullPage:
		return nil, p.unmasked("a picture of the full page would be laid out anew, and show what is masked: take pictures of the viewport, and scroll")
	case s.Format == "webp":
		return nil, p.unmasked("WebP cannot be painted over: take PNG or JPEG")
	}
	before, err := p.veils(ctx)
	if err != nil {
		return nil, err
	}
	for range veilTries {
		picture, err := p.capture(ctx, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng})
		if err != nil {
			return nil, err
		}
		after, err := p.veils(ctx)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(before, after) {
			before = after
			continue
		}
		out, err := veil.Cover(picture, after.view, after.boxes, veil.Show{Clip: s.Clip, Format: s.Format, Quality: s.Quality})
		if errors.Is(err, veil.ErrOutside) {
			return nil, actor.Errorf(actor.NotActionable, "%v", err)
		}
		return out, err
	}
	return nil, &actor.Error{Kind: actor.Aborted, Message: "what is masked moves, so no picture can be painted over: wait until the page rests, then try again"}
}

// veils is what is to be painted over in the main document's viewport.
type veils struct {
	view  veil.View
	boxes []dom.Box
}

// veils asks all documents. A frame with anything masked in it, at any depth, is painted over as a whole, and so is one that
// did not answer or is not known.
func (p *Page) veils(ctx context.Context) (veils, error) {
	list := p.agents()
	p.probeAll(ctx, list) // closed shadow trees are found by that
	told := map[dom.FrameID]page.Veil{}
	for _, o := range list {
		v, err := p.veilOf(ctx, o)
		if err == nil {
			told[p.frameKey(o.id)] = v
		} else if ctx.Err() != nil {
			return veils{}, p.failed(err)
		}
	}
	main, known := told[""]
	switch {
	case !known:
		return veils{}, &actor.Error{Kind: actor.Aborted, Message: "the page did not say where masked things are: it navigates, or hangs; try again"}
	case main.More:
		return veils{}, actor.Errorf(actor.NotActionable, "the page has more than can be painted over: read it as text")
	case main.Zoom != 1:
		return veils{}, actor.Errorf(actor.NotActionable, "the page is zoomed, so what is masked cannot be painted over: read it as text")
	}
	out := veils{view: veil.View{Width: main.Width, Height: main.Height}}
	for _, b := range main.Boxes {
		out.boxes = append(out.boxes, dom.Box{X: b[0], Y: b[1], Width: b[2], Height: b[3]})
	}
	for _, f := range main.Frames {
		if !clean(told, dom.FrameID(f.Name), 0) {
			out.boxes = append(out.boxes, dom.Box{X: f.Box[0], Y: f.Box[1], Width: f.Box[2], Height: f.Box[3]})
		}
	}
	return out, nil
}

// veilOf asks one document.
func (p *Page) veilOf(ctx context.Context, o observed) (v page.Veil, err error) {
	if o.id != cdp.FrameID(p.id) {
		if p.isLate(o.agent) {
			return v, errors.New("the frame does not answer")
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, frameGrace)
		defer cancel()
	}
	if err = o.agent.call(ctx, "veil", nil, &v); err == nil && v.Zoom == 0 {
		err = errors.New("the document said nothing")
	}
	return v, err
}

// maxNesting is how deep frames are looked into.
const maxNesting = 16

// clean reports whether a frame, with all that are in it, said that it shows nothing masked.
func clean(told map[dom.FrameID]page.Veil, id dom.FrameID, depth int) bool {
	v, known := told[id]
	if id == "" || !known || v.More || len(v.Boxes) > 0 || depth > maxNesting {
		return false
	}
	for _, f := range v.Frames {
		if !clean(told, dom.FrameID(f.Name), depth+1) {
			return false
		}
	}
	return true
}
