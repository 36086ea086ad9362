package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor"
)

// denial is why the gate did not let a document of the main frame come.
type denial struct {
	document string
	why      *actor.Error
}

// whyNot tells what the gate has to say of a URL; nil: there is none.
func (p *Page) whyNot() func(url string) string {
	gate := p.browser.gate
	if gate == nil {
		return nil
	}
	return func(url string) string {
		if why := gate.Verdict(url); why != nil {
			return why.Message
		}
		return ""
	}
}

// deny notes what the gate says of the URL of a document. It runs on the page's loop, before the document is committed.
func (p *Page) deny(document, url string) {
	if p.browser.gate == nil {
		return
	}
	why := p.browser.gate.Verdict(url)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusal = denial{document, why}
}

// denied returns why a document did not come, or nil.
func (p *Page) denied(document string) *actor.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusal.document != document {
		return nil
	}
	return p.refusal.why
}

// awaitDenied is denied for a navigation that failed, once the browser's error page tells where it had led to.
func (p *Page) awaitDenied(ctx context.Context, document string) *actor.Error {
	if p.browser.gate == nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = p.await(bounded, func() bool { return p.frames[cdp.FrameID(p.id)].document == document })
	return p.denied(document)
}
