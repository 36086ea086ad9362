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

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/launch"
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

// verdict is what the gate says of URLs; nil: there is no gate.
func (b *Browser) verdict() func(url string) *apierr.Error {
	if b.gate == nil {
		return nil
	}
	return b.gate.Verdict
}

// whyNot tells what the gate has to say of a URL; nil: there is none.
func (b *Browser) whyNot() func(url string) string {
	gate := b.gate
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
