package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/page"
)

// maxMarkup bounds the markup of all documents of a page together, in bytes. A document that would go beyond
// is left out, but for the main one, whose script has a bound of its own.
const maxMarkup = 16 << 20

// Markup implements actor.Observer.
func (p *Page) Markup(ctx context.Context) ([]actor.Markup, error) {
	var err error
	for range maxReads {
		if _, err = p.waitAgent(ctx, ""); err != nil {
			return nil, err
		}
		if err = p.await(ctx, func() bool { return p.arriving == 0 }); err != nil {
			return nil, err
		}
		var out []actor.Markup
		if out, err = p.markupOnce(ctx); err == nil {
			return out, nil
		}
		if !isGoneContext(err) {
			return nil, p.failed(err)
		}
		if berr := p.barrier(ctx); berr != nil {
			return nil, berr
		}
	}
	return nil, &actor.Error{Kind: actor.Aborted, Message: "the page navigates again and again; wait until it rests, then read again", Err: err}
}

// markupOnce asks one document after the other, since each answer can be large. Frames that fail are left out.
func (p *Page) markupOnce(ctx context.Context) ([]actor.Markup, error) {
	var out []actor.Markup
	size := 0
	for _, o := range p.agents() {
		var m page.Markup
		if err := o.agent.call(ctx, "markup", nil, &m); err != nil {
			if o.id == cdp.FrameID(p.id) || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		if size += len(m.HTML); size > maxMarkup && len(out) > 0 {
			out[0].Truncated = true
			break
		}
		out = append(out, actor.Markup{
			Frame: p.frameKey(o.id), Document: o.agent.document, URL: m.URL, Title: m.Title, HTML: m.HTML,
			Truncated: m.Truncated, MediaArea: max(m.MediaArea, 0), ViewArea: max(m.ViewArea, 0),
		})
	}
	return out, nil
}
