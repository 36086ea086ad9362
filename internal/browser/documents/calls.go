package documents

import (
	"context"
	"sync"

	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// calls holds the commands of one read to several agents. The agents of a session are first probed together, so that their round trips
// overlap, and then read. Sessions, which may belong to different processes, do not wait for each other.
type calls struct {
	// sent holds the call to each agent, nil for a late agent. batches holds the batch of each agent.
	sent    []*devtools.Call
	batches []*batch
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// batch holds the agents of one session.
type batch struct {
	// members holds their indexes.
	members []int
	// done is closed when all agents of the batch were sent their command. Then err is the error of a failed send.
	done chan struct{}
	err  error
}

// ask starts to probe and read agents. The caller must call finish.
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

// askBatch probes the agents of a batch and then sends them the read command.
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

// of waits until the command to an agent was sent, and returns the call, or nil for a late agent. The wait is bounded by the probes of the
// agent's session.
func (c *calls) of(i int) (*devtools.Call, error) {
	<-c.batches[i].done
	return c.sent[i], c.batches[i].err
}

// wait waits until all commands were sent.
func (c *calls) wait() { c.wg.Wait() }

// finish cancels all remaining commands.
func (c *calls) finish() {
	c.cancel()
	c.wait()
}
