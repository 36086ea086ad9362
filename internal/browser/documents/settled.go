package documents

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// settledLimit bounds how long the documents may take to report whether they have settled.
const settledLimit = 500 * time.Millisecond

// Settled reports whether all documents know that the effects of an action have settled. The document of the action's frame must have
// changed because of the action or, if again is set, since the last request. All other documents must be unchanged. A document that does
// not respond has not settled. Settled returns an error only if ctx ends. known is a request that was already sent, or zero; the caller
// must call its Forget.
func (q *Query) Settled(ctx context.Context, frame dom.FrameID, again bool, known frames.SentCommand) (bool, error) {
	q.m.Lock()
	complete := q.m.Tree.Complete()
	q.m.Unlock()
	if !complete {
		return false, nil
	}
	bounded, cancel := context.WithTimeout(ctx, settledLimit)
	defer cancel()
	acted, why := false, ""
	var asked []pendingRequest
	for _, o := range q.m.Readable() {
		k, err := known.Call, error(nil)
		if o.Agent != known.Agent {
			k, err = o.Agent.Send(bounded, o.Agent.Params("settled", observer.SettledRequest{Again: again}))
		}
		if err != nil {
			why = err.Error()
			break
		}
		asked = append(asked, pendingRequest{o.Agent, k})
		acted = acted || q.m.Tree.Key(o.ID) == frame
	}
	for _, one := range asked {
		if why == "" {
			why = q.whyUnsettled(bounded, one)
		}
		one.call.Forget()
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if why != "" {
		q.m.Logger.Debug("quiet frames are waited for", "why", why)
	}
	return acted && why == "", nil
}

// pendingRequest is a pending request to one document.
type pendingRequest struct {
	agent *frames.Agent
	call  *devtools.Call
}

// whyUnsettled waits for one document's response. It returns why the document has not settled, or an empty string.
func (q *Query) whyUnsettled(ctx context.Context, one pendingRequest) string {
	var reply devtools.Evaluation
	answer := observer.SettledAnswer{Why: "no answer"}
	if err := one.call.Wait(ctx, &reply); err != nil {
		return answer.Why
	}
	if err := reply.Decode(&answer); err != nil {
		return err.Error()
	}
	q.recordGrown(one.agent, answer.Grown)
	return answer.Why
}

// recordGrown makes the next read probe a grown document first, instead of sending a read that would only request the probe.
func (q *Query) recordGrown(a *frames.Agent, grown bool) {
	q.m.Lock()
	defer q.m.Unlock()
	a.Reading.Probe.Grown = grown
}
