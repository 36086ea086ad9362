package documents

import (
	"context"
	"sync"

	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// calls are the commands by which one read asks several agents. The agents of a session are probed together, so that their
// round trips overlap, and asked when all of them are probed. Sessions, which may be of other processes, do not wait for each
// other.
type calls struct {
	// sent has the call of each agent, nil for one that is late, and batches the batch of each.
	sent    []*devtools.Call
	batches []*batch
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// batch is the agents of one session.
type batch struct {
	// members are their indexes.
	members []int
	// done is closed when all of them were asked; then err says why one could not be.
	done chan struct{}
	err  error
}

// ask begins to probe and ask agents. The caller owes finish.
func (r *Reader) ask(ctx context.Context, list []reading, rd round) *calls {
	ctx, cancel := context.WithCancel(ctx)
	c := &calls{sent: make([]*devtools.Call, len(list)), batches: make([]*batch, len(list)), cancel: cancel}
	of := map[target.SessionID]*batch{}
	for i := range list {
		session := list[i].Agent.Session.ID
		if of[session] == nil {
			of[session] = &batch{done: make(chan struct{})}
		}
		c.batches[i] = of[session]
		c.batches[i].members = append(c.batches[i].members, i)
	}
	for _, b := range of {
		c.wg.Go(func() {
			defer close(b.done)
			b.err = r.askBatch(ctx, b.members, list, rd, c.sent)
		})
	}
	return c
}

// askBatch probes the agents of a batch, and then asks them.
func (r *Reader) askBatch(ctx context.Context, members []int, list []reading, rd round, sent []*devtools.Call) error {
	agents := make([]frames.Readable, len(members))
	for k, i := range members {
		agents[k] = list[i].Readable
	}
	rd.probe(ctx, agents)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, i := range members {
		if r.m.IsLate(list[i].Agent) {
			continue
		}
		var err error
		if sent[i], err = list[i].Agent.Send(ctx, r.request(list[i], rd)); err != nil {
			return err
		}
	}
	return nil
}

// of waits until an agent was asked, and returns the call; nil: the agent is late. That takes no longer than the probes of the
// agent's session may.
func (c *calls) of(i int) (*devtools.Call, error) {
	<-c.batches[i].done
	return c.sent[i], c.batches[i].err
}

// wait waits until all agents were asked.
func (c *calls) wait() { c.wg.Wait() }

// finish asks nobody any more.
func (c *calls) finish() {
	c.cancel()
	c.wait()
}
