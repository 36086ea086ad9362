package documents

import (
	"context"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// restLimit bounds how long the documents may take to say whether they are at rest.
const restLimit = 500 * time.Millisecond

// Rests asks all documents whether they know that what an action set off is over. The document of the frame that was acted
// on must have changed because of the action, or with again since it was asked last, and the others must be untouched. A
// document that does not answer does not know. The error is that of ctx. known was asked already, and the caller forgets it;
// its zero value is nothing.
func (q *Query) Rests(ctx context.Context, frame dom.FrameID, again bool, known frames.Asked) (bool, error) {
	q.m.Lock()
	complete := q.m.Tree.Complete()
	q.m.Unlock()
	if !complete {
		return false, nil
	}
	bounded, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	acted, why := false, ""
	var asked []asking
	for _, o := range q.m.Readable() {
		k, err := known.Call, error(nil)
		if o.Agent != known.Agent {
			k, err = o.Agent.Send(bounded, o.Agent.Params("rest", observer.RestRequest{Again: again}))
		}
		if err != nil {
			why = err.Error()
			break
		}
		asked = append(asked, asking{o.Agent, k})
		acted = acted || q.m.Tree.Key(o.ID) == frame
	}
	for _, one := range asked {
		if why == "" {
			why = q.whyRestless(bounded, one)
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

// asking is a document that is asked whether it is at rest.
type asking struct {
	agent *frames.Agent
	call  *devtools.Call
}

// whyRestless waits for what one document says.
func (q *Query) whyRestless(ctx context.Context, one asking) string {
	var reply devtools.Evaluation
	answer := observer.RestAnswer{Why: "no answer"}
	if err := one.call.Wait(ctx, &reply); err != nil {
		return answer.Why
	}
	if err := reply.Decode(&answer); err != nil {
		return err.Error()
	}
	q.noteGrown(one.agent, answer.Grown)
	return answer.Why
}

// noteGrown has the next read probe a document before it asks it, which would only say so itself.
func (q *Query) noteGrown(a *frames.Agent, grown bool) {
	q.m.Lock()
	defer q.m.Unlock()
	a.Reading.Probe.Grown = grown
}
