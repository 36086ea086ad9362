package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// answerWait is how long an answer may take before the question is asked again, because it may have been lost. The owner answers within 10
// seconds, if only that it cannot.
const answerWait = 11 * time.Second

// questions are those of all who begin to watch a copy: one is under way at a time, and all who come meanwhile share the next. So the owner
// is not asked more often when more watch.
type questions struct {
	// wanted is filled when there is a next question.
	wanted chan struct{}
	// next is the one that is asked next; nil: nobody waits for one. Copy.mu guards it, and over, which says why none is asked any more.
	next *question
	over error
}

// question is one question that several wait for.
type question struct {
	// answered is closed when reply or err is set.
	answered chan struct{}
	reply    *clusterv1.InterestReply
	err      error
}

// errNoAnswer says that the owner of a tab was asked, and was silent.
var errNoAnswer = errors.New("it does not answer")

// join asks the owner for what all who watch need, together with others, and returns its answer to a question that was asked after join was
// called.
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

// askForAll asks the questions until ctx ends.
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

// askAgain asks the owner, once more when it is silent: the question or the answer may have been lost.
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
