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
	for _, k := range calls {
		rests = rests && knowsRest(bounded, k)
		k.Forget()
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return rests && acted, nil
}

// knowsRest waits for what one document says.
func knowsRest(ctx context.Context, k *devtools.Call) bool {
	var reply devtools.Evaluation
	var answer observer.RestAnswer
	return k.Wait(ctx, &reply) == nil && reply.Decode(&answer) == nil && answer.Rests
}
