package documents

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/observer"
)

// restLimit bounds how long the documents may take to say whether they are at rest.
const restLimit = 500 * time.Millisecond

// Rests asks all documents whether they know that what an action set off is over. The document of the frame that was acted
// on must have changed because of the action, or with again since it was asked last, and the others must be untouched. A
// document that does not answer does not know. The error is that of ctx.
func (q *Query) Rests(ctx context.Context, frame dom.FrameID, again bool) (bool, error) {
	q.m.Lock()
	complete := q.m.Tree.Complete()
	q.m.Unlock()
	if !complete {
		return false, nil
	}
	bounded, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	rests, acted := true, false
	var calls []*devtools.Call
	for _, o := range q.m.Readable() {
		params := o.Agent.Params("rest", observer.RestRequest{Again: again})
		k, err := o.Agent.Send(bounded, params)
		if err != nil {
			rests = false
			break
		}
		calls = append(calls, k)
		acted = acted || q.m.Tree.Key(o.ID) == frame
	}
	why := ""
	for _, k := range calls {
		if rests && why == "" {
			why = whyRestless(bounded, k)
		}
		k.Forget()
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if why != "" {
		q.m.Logger.Debug("quiet frames are waited for", "why", why)
	}
	return rests && acted && why == "", nil
}

// whyRestless waits for what one document says.
func whyRestless(ctx context.Context, k *devtools.Call) string {
	var reply devtools.Evaluation
	answer := observer.RestAnswer{Why: "no answer"}
	if err := k.Wait(ctx, &reply); err != nil {
		return "no answer: " + err.Error()
	}
	if err := reply.Decode(&answer); err != nil {
		return "no answer: " + err.Error()
	}
	return answer.Why
}
