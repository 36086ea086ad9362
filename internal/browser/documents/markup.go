package documents

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// maxMarkup limits the markup of all documents of a page together, in bytes. A document that would exceed it is skipped, except the main
// one, whose size the script limits.
const maxMarkup = 16 << 20

// Markup returns every document as HTML, or the content of one element; see driver.Query.
func (q *Query) Markup(ctx context.Context, root driver.Element) (out []driver.Markup, err error) {
	err = q.withAgents(ctx, func() (err error) {
		if root.Ref != dom.NoRef {
			out, err = q.markupWithin(ctx, root)
			return err
		}
		out, err = q.markupOnce(ctx)
		return err
	})
	return out, err
}

// markupWithin returns the markup of an element. The frame must still show the element's document.
func (q *Query) markupWithin(ctx context.Context, root driver.Element) ([]driver.Markup, error) {
	a := q.m.AgentOf(root.Frame)
	if a == nil || q.m.IsLate(a) || root.Document != "" && a.Document != root.Document {
		return nil, staleRoot(int64(root.Ref))
	}
	ctx, cancel := q.bounded(ctx, a, framesLimit)
	defer cancel()
	var m observer.Markup
	if err := a.Call(ctx, "markup", observer.MarkupRequest{Root: uint32(root.Ref)}, &m); err != nil {
		return nil, err
	}
	return []driver.Markup{markup(root.Frame, a.Document, m)}, nil
}

// markupOnce reads one document after another, because each result can be large. It skips frames that fail or do not respond in time.
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
		out = append(out, markup(q.m.Tree.Key(o.ID), o.Agent.Document, m))
	}
	return out, nil
}

// markup converts the result of a document.
func markup(frame dom.FrameID, document string, m observer.Markup) driver.Markup {
	return driver.Markup{
		Frame: frame, Document: document, URL: m.URL, Title: m.Title, Type: m.Type, HTML: m.HTML, Unseen: m.Unseen[:min(len(m.Unseen), maxUnseen)],
		Truncated: m.Truncated, MediaArea: max(m.MediaArea, 0), ViewArea: max(m.ViewArea, 0),
	}
}

// markupOf returns the markup of one document.
func (q *Query) markupOf(ctx context.Context, o frames.Readable) (m observer.Markup, err error) {
	waits, cancel := q.bounded(ctx, o.Agent, FrameGrace)
	defer cancel()
	err = o.Agent.Call(waits, "markup", nil, &m)
	if err != nil && waits.Err() != nil && !q.m.IsMain(o.Agent.Session) {
		q.awaitAnswer(o.Agent)
	}
	return m, err
}

// maxUnseen limits the invisible text of one document, in bytes.
const maxUnseen = 256 << 10
