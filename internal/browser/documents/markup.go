package documents

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// maxMarkup bounds the markup of all documents of a page together, in bytes. A document that would exceed the bound is
// left out, except the main one, whose script has a bound of its own.
const maxMarkup = 16 << 20

// Markup returns every document as HTML; see driver.Query.
func (q *Query) Markup(ctx context.Context) (out []driver.Markup, err error) {
	err = q.withAgents(ctx, func() (err error) {
		out, err = q.markupOnce(ctx)
		return err
	})
	return out, err
}

// markupOnce asks one document after the other, because each answer can be large. Frames that fail, or do not answer in
// time, are left out.
func (q *Query) markupOnce(ctx context.Context) ([]driver.Markup, error) {
	var out []driver.Markup
	size := 0
	for _, o := range q.m.Readable() {
		if q.m.IsLate(o.Agent) {
			continue
		}
		m, err := q.markupOf(ctx, o)
		if err != nil {
			if o.ID == cdp.FrameID(q.m.ID) || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		if size += len(m.HTML); size > maxMarkup && len(out) > 0 {
			out[0].Truncated = true
			break
		}
		out = append(out, driver.Markup{
			Frame: q.m.Tree.Key(o.ID), Document: o.Agent.Document, URL: m.URL, Title: m.Title, HTML: m.HTML, Unseen: m.Unseen[:min(len(m.Unseen), maxUnseen)],
			Truncated: m.Truncated, MediaArea: max(m.MediaArea, 0), ViewArea: max(m.ViewArea, 0),
		})
	}
	return out, nil
}

// markupOf asks one document.
func (q *Query) markupOf(ctx context.Context, o frames.Readable) (m observer.Markup, err error) {
	waits, cancel := q.bounded(ctx, o.Agent, FrameGrace)
	defer cancel()
	err = o.Agent.Call(waits, "markup", nil, &m)
	if err != nil && waits.Err() != nil && !q.m.IsMain(o.Agent.Session) {
		q.awaitAnswer(o.Agent)
	}
	return m, err
}

// maxUnseen bounds the invisible text of one document, in bytes.
const maxUnseen = 256 << 10
