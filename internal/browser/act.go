package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/input"
	"github.com/domtap/domtap/internal/browser/requests"
)

// This file is what several parts of a page do together.

// Do implements actor.Hands. Input is the browser's own (trusted events), never a script's.
func (p *Page) Do(ctx context.Context, a actor.Action) (actor.Deed, error) {
	p.context.front.BringToFront(ctx, p.frames)
	done, err := p.context.acts(ctx)
	if err != nil {
		return actor.Deed{}, err
	}
	defer done()
	do := func() (actor.Deed, error) { return p.input.Do(ctx, a) }
	if use := input.UsesClipboard(a, p.browser.mac); use != (input.ClipboardUse{}) {
		return p.context.withClipboard(ctx, use, do)
	}
	return do()
}

// Evaluate implements actor.Seer.
func (p *Page) Evaluate(ctx context.Context, s actor.Script) (out actor.Evaluated, err error) {
	if err = p.Unmasked("scripts would tell what is masked: read the page, or use a session without --mask"); err != nil {
		return out, err
	}
	p.context.front.BringToFront(ctx, p.frames) // scripts may wait for frames
	done, err := p.context.acts(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	return p.Scripts.Evaluate(ctx, s)
}

// Heed implements actor.Observer.
func (p *Page) Heed(ctx context.Context, h actor.Heed) error {
	p.Report(ctx, h)
	p.Watch(h.Network)
	return nil
}

// Settle implements actor.Hands.
func (p *Page) Settle(ctx context.Context, frame dom.FrameID, limit time.Duration) error {
	until := requests.Limit()
	for {
		if err := p.Query.Settle(ctx, frame, limit); err != nil {
			return err
		}
		if err := p.AwaitArrival(ctx); err != nil {
			return err
		}
		if err := p.barrier(ctx); err != nil {
			return err
		}
		waited, err := p.AwaitAnswers(ctx, until)
		if err != nil || !waited {
			return err
		}
		// What was answered is about to be shown.
	}
}

// Audit is documents.Audit, for tests.
func (p *Page) Audit(ctx context.Context, frame dom.FrameID) (string, error) {
	return documents.Audit(ctx, p.frames, frame)
}

// Nodes is documents.Nodes, for tests.
func (p *Page) Nodes(ctx context.Context, frame dom.FrameID) ([]cdp.BackendNodeID, error) {
	return documents.Nodes(ctx, p.frames, frame)
}
