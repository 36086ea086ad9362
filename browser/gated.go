package browser

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/launch"
)

// CheckGate reports whether the traffic of the browser that cfg describes can be made to go through cfg.Gate.
func CheckGate(cfg Config) error { return launch.CheckGate(cfg) }

// passageLimit is how long a new browser may take to show that it goes through its gate.
const passageLimit = 20 * time.Second

// passes makes sure that the browser goes through its gate: what the machine's administrator has configured for it comes
// before its command line.
func (b *Browser) passes(ctx context.Context) error {
	if b.gate == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, passageLimit)
	defer cancel()
	made, err := cdp.Call(ctx, b.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return err
	}
	defer b.discard(made.TargetID)
	s, err := b.root.Attach(ctx, made.TargetID)
	if err != nil {
		return err
	}
	url, want := b.gate.Probe()
	if _, err := cdp.Call(ctx, s, cdppage.Navigate, cdppage.NavigateParams{URL: url}); err != nil {
		return err
	}
	yes := true
	said, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: &yes, Expression: `new Promise(loaded => {
		document.readyState === 'complete' ? loaded() : addEventListener('load', loaded) }).then(() => document.body.innerText)`})
	if err != nil {
		return err
	}
	var text string
	if said.Result == nil || jsonv2.Unmarshal(said.Result.Value, &text, chromedp.DefaultUnmarshalOptions) != nil || text != want {
		return errors.New("it does not send its traffic through the proxy that enforces the URL policy: an administrator's policy for this browser may " +
			"name another proxy (chrome://policy shows it); name another browser with --chrome, or leave out --url-policy")
	}
	return nil
}

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
