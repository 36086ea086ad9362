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
func (p *Page) Markup(ctx context.Context) (out []actor.Markup, err error) {
	err = p.retry(ctx, func() (err error) {
		out, err = p.markupOnce(ctx)
		return err
	})
	return out, err
}

// markupOnce asks one document after the other, since each answer can be large. Frames that fail, or do not
// answer in time, are left out.
func (p *Page) markupOnce(ctx context.Context) ([]actor.Markup, error) {
	var out []actor.Markup
	size := 0
	for _, o := range p.agents() {
		if p.isLate(o.agent) {
			continue
		}
		m, err := p.markupOf(ctx, o)
		if err != nil {
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
			Frame: p.frameKey(o.id), Document: o.agent.document, URL: m.URL, Title: m.Title, HTML: m.HTML, Unseen: m.Unseen[:min(len(m.Unseen), maxUnseen)],
			Truncated: m.Truncated, MediaArea: max(m.MediaArea, 0), ViewArea: max(m.ViewArea, 0),
		})
	}
	return out, nil
}

// markupOf asks one document.
func (p *Page) markupOf(ctx context.Context, o observed) (m page.Markup, err error) {
	other := o.agent.session.ID != p.main.ID
	if other {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, frameGrace)
		defer cancel()
	}
	err = o.agent.call(ctx, "markup", nil, &m)
	if err != nil && ctx.Err() != nil && other {
		p.awaitAnswer(o.agent)
	}
	return m, err
}

// maxUnseen bounds the text of one document that is not drawn, in bytes.
const maxUnseen = 256 << 10
