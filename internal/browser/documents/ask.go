package documents

import (
	"context"
	"sync"

	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// asked is what several agents are asked to read. The agents of one session are asked when all of them are probed, whose
// round trips overlap so; those of other sessions, which may run in other processes, are asked meanwhile.
type asked struct {
	batches []*batch
	byIndex []*batch
	// end cancels what is not asked yet.
	end context.CancelFunc
	wg  sync.WaitGroup
}

// batch is the agents of one session among those that are read.
type batch struct {
	session target.SessionID
	// members are indexes of the agents.
	members []int
	// done is closed when the agents were asked; then calls has the call of each member, nil for one that is late, and
	// err says why a call could not be sent.
	done  chan struct{}
	calls map[int]*devtools.Call
	err   error
}

// ask begins to ask agents. The caller owes finish.
func (r *Reader) ask(ctx context.Context, list []reading, asks round) *asked {
	ctx, cancel := context.WithCancel(ctx)
	a := &asked{end: cancel, byIndex: make([]*batch, len(list))}
	for i := range list {
		b := a.batchOf(list[i].Agent.Session.ID)
		b.members = append(b.members, i)
		a.byIndex[i] = b
	}
	for _, b := range a.batches {
		do := func() {
			defer close(b.done)
			r.askBatch(ctx, b, list, asks)
		}
		if len(a.batches) == 1 {
			do()
		} else {
			a.wg.Go(do)
		}
	}
	return a
}

// batchOf returns the batch of a session, which it adds when it is new.
func (a *asked) batchOf(session target.SessionID) *batch {
	for _, b := range a.batches {
		if b.session == session {
			return b
		}
	}
	b := &batch{session: session, done: make(chan struct{}), calls: map[int]*devtools.Call{}}
	a.batches = append(a.batches, b)
	return b
}

// askBatch probes the agents of a batch, and then asks them.
func (r *Reader) askBatch(ctx context.Context, b *batch, list []reading, asks round) {
	agents := make([]frames.Readable, len(b.members))
	for k, i := range b.members {
		agents[k] = list[i].Readable
	}
	asks.probe(ctx, agents)
	if b.err = ctx.Err(); b.err != nil {
		return
	}
	for _, i := range b.members {
		if r.m.IsLate(list[i].Agent) {
			continue
		}
		k, err := list[i].Agent.Send(ctx, r.request(list[i], asks))
		if err != nil {
			b.err = err
			return
		}
		b.calls[i] = k
	}
}

// call waits until an agent was asked; nil: the agent is late. That takes no longer than the probes of its session may.
func (a *asked) call(i int) (*devtools.Call, error) {
	b := a.byIndex[i]
	<-b.done
	return b.calls[i], b.err
}

// wait waits until all agents were asked.
func (a *asked) wait() { a.wg.Wait() }

// finish waits until nothing is asked any more.
func (a *asked) finish() {
	a.end()
	a.wg.Wait()
}
