package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// answerWait limits how long an answer may take. After that the question is repeated, because it may have been lost. The owner answers
// within 10 seconds, if only with an error.
const answerWait = 11 * time.Second

// questions combines the questions to the owner of all watchers that start to watch a copy. One question is in flight at a time, and all
// watchers that arrive in the meantime share the next one. So more watchers do not cause more requests to the owner.
type questions struct {
	// wanted receives a value when there is a next question.
	wanted chan struct{}
	// next is the question to send next, or nil if no watcher waits for one. over is the reason why no more questions are sent. Copy.mu
	// guards both.
	next *question
	over error
}

// question is one question that several watchers share.
type question struct {
	// answered is closed when reply or err is set.
	answered chan struct{}
	reply    *clusterv1.InterestReply
	err      error
}

// errNoAnswer means that the owner of a tab did not answer a question.
var errNoAnswer = errors.New("it does not answer")

// join requests from the owner what all watchers need. Concurrent callers share one question. join returns the answer to a question that
// was sent after join was called.
func (c *Copy) join(ctx context.Context) (*clusterv1.InterestReply, error) {
	c.mu.Lock()
	if c.over != nil {
		c.mu.Unlock()
		return nil, c.lost(c.over)
	}
	if c.next == nil {
		c.next = &question{answered: make(chan struct{})}
	}
	one := c.next
	c.mu.Unlock()
	select {
	case c.wanted <- struct{}{}:
	default:
	}
	select {
	case <-one.answered:
		return one.reply, one.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// askForAll sends the questions until ctx ends.
func (c *Copy) askForAll(ctx context.Context) {
	for {
		select {
		case <-c.wanted:
		case <-ctx.Done():
			c.stopAsking(context.Cause(ctx))
			return
		}
		c.mu.Lock()
		one := c.next
		c.next = nil
		c.mu.Unlock()
		if one != nil {
			one.reply, one.err = c.askAgain(ctx)
			close(one.answered)
		}
	}
}

// askAgain sends a question to the owner. If there is no answer, it sends the question once more, because the question or the answer may
// have been lost.
func (c *Copy) askAgain(ctx context.Context) (reply *clusterv1.InterestReply, err error) {
	for range 2 {
		bounded, cancel := context.WithTimeout(ctx, answerWait)
		reply, err = c.ask(bounded, &clusterv1.InterestRequest{})
		late := bounded.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, c.lost(context.Cause(ctx))
		case !late:
			return reply, err
		}
		err = c.lost(fmt.Errorf("node %s: %w", c.owner, errNoAnswer))
	}
	return nil, err
}

// stopAsking ends the questions.
func (c *Copy) stopAsking(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = why
	if c.next != nil {
		c.next.err = c.lost(why)
		close(c.next.answered)
		c.next = nil
	}
}
