package documents

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/truncate"
)

// lookups maps the kinds of targets to the names that the command "find" accepts.
var lookups = map[target.By]string{
	target.Label: "label", target.Placeholder: "placeholder", target.TestID: "test_id", target.Selector: "selector",
	target.Group: "group", target.Submitter: "submitter", target.Innermost: "innermost", target.Shown: "shown",
	target.Ref: "ref", target.Role: "role", target.Text: "text", // with OnHover
}

const (
	// maxFound limits how many matches of a result are used. The script sends fewer.
	maxFound = 1000
	// maxWas limits the description of a hidden element, in characters.
	maxWas = 1000
)

// Find finds the elements of a target that the stored DOM cannot resolve; see driver.Query.
func (q *Query) Find(ctx context.Context, t target.Target) (out target.Resolution, err error) {
	req := observer.FindRequest{By: lookups[t.By], Words: t.Words, Ref: uint32(t.Ref), Role: t.Role, OnHover: t.OnHover, Whole: t.ComparesWholeWords()}
	if t.By == target.Role {
		req.Words = t.Name
	}
	err = q.withAgents(ctx, func() (err error) {
		out, err = q.findOnce(ctx, req)
		return err
	})
	return out, err
}

// findOnce searches all documents concurrently. It skips frames that fail, except the main frame.
func (q *Query) findOnce(ctx context.Context, req observer.FindRequest) (target.Resolution, error) {
	var out target.Resolution
	list := q.m.Readable()
	calls := make([]*devtools.Call, len(list))
	for i, o := range list {
		if q.m.IsLate(o.Agent) {
			continue
		}
		k, err := o.Agent.Send(ctx, o.Agent.Params("find", req))
		if err != nil {
			return out, err
		}
		calls[i] = k
	}
	for i, k := range calls {
		if k == nil {
			continue
		}
		found, err := q.foundIn(ctx, list[i], k)
		if err != nil && (list[i].ID == cdp.FrameID(q.m.ID) || ctx.Err() != nil) {
			return out, err
		}
		out = out.Merge(found)
	}
	return out, nil
}

// foundIn waits for the result of one document.
func (q *Query) foundIn(ctx context.Context, o frames.Readable, k *devtools.Call) (target.Resolution, error) {
	waits, cancel := q.bounded(ctx, o.Agent, FrameGrace)
	defer cancel()
	var reply devtools.Evaluation
	var answer observer.FindAnswer
	err := k.Wait(waits, &reply)
	if err == nil {
		err = reply.Decode(&answer)
	}
	if err != nil {
		if waits.Err() != nil && ctx.Err() == nil {
			q.awaitAnswer(o.Agent)
		}
		return target.Resolution{}, err
	}
	return finding(answer), nil
}

// finding converts a result. The page may have forged it, so invalid refs and fits are dropped.
func finding(a observer.FindAnswer) target.Resolution {
	was, _ := truncate.Head(a.Was, maxWas)
	inert, _ := truncate.Head(a.Inert, maxWas)
	out := target.Resolution{Invalid: a.Invalid, More: a.More, Hidden: max(0, a.Hidden), HiddenWas: was, Inert: inert}
	for _, one := range a.Found[:min(len(a.Found), maxFound)] {
		ref, fit := one[0], one[1]
		if ref < -1 || ref >= int64(dom.NoRef) || fit < 0 || fit >= int64(target.Not) {
			continue
		}
		found := target.PageMatch{Ref: dom.NoRef, Fit: target.Fit(fit)}
		if ref >= 0 {
			found.Ref = dom.Ref(ref)
		}
		out.Matches = append(out.Matches, found)
	}
	return out
}

// Replaces reports whether an element may be the new rendering of another one; see driver.Query.
func (q *Query) Replaces(ctx context.Context, r driver.Replacement) (bool, error) {
	agent, err := q.m.Agent(ctx, r.Old.Frame)
	if err != nil {
		return false, err
	}
	if agent.Document != r.Old.Document {
		return false, nil
	}
	var answer observer.RematchAnswer
	if err := agent.Call(ctx, "rematch", observer.RematchRequest{Ref: uint32(r.Old.Ref), Successor: uint32(r.New)}, &answer); err != nil {
		return false, q.m.Failed(err)
	}
	if answer.Why != "" {
		q.m.Logger.Debug("no element replaces a removed element", "removed", r.Old.Ref, "candidate", r.New, "why", answer.Why)
	}
	return answer.Why == "", nil
}
