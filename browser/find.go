package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

// ways names what the command "find" looks for.
var ways = map[target.By]string{
	target.Label: "label", target.Placeholder: "placeholder", target.TestID: "test_id", target.Selector: "selector",
	target.Group: "group", target.Submitter: "submitter", target.Innermost: "innermost",
}

// maxFound bounds what is believed of a document's answer; its script names fewer.
const maxFound = 1000

// Find implements actor.Observer.
func (p *Page) Find(ctx context.Context, t target.Target) (out target.Finding, err error) {
	err = p.retry(ctx, func() (err error) {
		out, err = p.findOnce(ctx, page.FindRequest{By: ways[t.By], Words: t.Words, Ref: uint32(t.Ref)})
		return err
	})
	return out, err
}

// findOnce asks all documents at once. The main one has the time that the caller has; frames in other processes have
// little, and are left out when they fail.
func (p *Page) findOnce(ctx context.Context, req page.FindRequest) (target.Finding, error) {
	var out target.Finding
	list := p.agents()
	calls := make([]*link.Call, len(list))
	for i, o := range list {
		if p.isLate(o.agent) {
			continue
		}
		k, err := p.browser.conn.Send(ctx, o.agent.session.ID, runtime.CommandCallFunctionOn, o.agent.params("find", req))
		if err != nil {
			return out, err
		}
		calls[i] = k
	}
	for i, k := range calls {
		if k == nil {
			continue
		}
		found, err := p.foundIn(ctx, list[i], k)
		if err != nil && (list[i].id == cdp.FrameID(p.id) || ctx.Err() != nil) {
			return out, err
		}
		out = out.With(found)
	}
	return out, nil
}

// foundIn takes the answer of one document.
func (p *Page) foundIn(ctx context.Context, o observed, k *link.Call) (target.Finding, error) {
	waits := ctx
	if o.agent.session.ID != p.main.ID {
		var cancel context.CancelFunc
		waits, cancel = context.WithTimeout(ctx, frameGrace)
		defer cancel()
	}
	var reply link.Evaluation
	var answer page.FindAnswer
	err := k.Wait(waits, &reply)
	if err == nil {
		err = reply.Decode(&answer)
	}
	if err != nil {
		if waits.Err() != nil && ctx.Err() == nil {
			p.awaitAnswer(o.agent)
		}
		return target.Finding{}, err
	}
	return finding(answer), nil
}

// finding takes nothing on trust: what makes no sense is left out.
func finding(a page.FindAnswer) target.Finding {
	out := target.Finding{Invalid: a.Invalid, More: a.More, Hidden: max(0, a.Hidden), HiddenWas: bound(a.Was)}
	for _, one := range a.Found[:min(len(a.Found), maxFound)] {
		ref, fit := one[0], one[1]
		if ref < -1 || ref >= int64(dom.NoRef) || fit < 0 || fit >= int64(target.Not) {
			continue
		}
		found := target.Found{Ref: dom.NoRef, Fit: target.Fit(fit)}
		if ref >= 0 {
			found.Ref = dom.Ref(ref)
		}
		out.Matches = append(out.Matches, found)
	}
	return out
}

// Inherits implements actor.Observer.
func (p *Page) Inherits(ctx context.Context, s actor.Succession) (bool, error) {
	agent, err := p.waitAgent(ctx, s.Frame)
	if err != nil {
		return false, err
	}
	if agent.document != s.Document {
		return false, nil
	}
	var answer page.InheritsAnswer
	if err := agent.call(ctx, "inherits", page.InheritsRequest{Ref: uint32(s.Gone), Heir: uint32(s.Heir)}, &answer); err != nil {
		return false, p.failed(err)
	}
	if answer.Why != "" {
		p.logger.Debug("an element is not taken for one that is gone", "gone", s.Gone, "heir", s.Heir, "why", answer.Why)
	}
	return answer.Why == "", nil
}
