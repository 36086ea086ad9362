// Package batch lets calls of the same kind that wait for a tab share one turn. A thousand concurrent clients then do not fill the mailbox,
// and the page is queried once for all of them. Each call gets an answer that is newer than the call, because a call that arrives after the
// turn has started waits for the next turn.
//
// Calls has a lock, and no method blocks while it holds the lock. The package starts no goroutine.
package batch

import "sync"

// Calls groups the calls of one kind. The zero value is ready to use. It is safe for concurrent use.
type Calls[Ask, Answer any] struct {
	mu sync.Mutex
	// waiting is the turn that has not started yet, or nil.
	waiting *Turn[Ask, Answer]
}

// Turn is a turn of the tab that several calls share.
type Turn[Ask, Answer any] struct {
	// asks holds the requests of the calls; it grows until the turn starts.
	asks []Ask
	// done is closed when the turn is over. After that, answer and err are its result.
	done   chan struct{}
	answer Answer
	err    error
}

// Done returns a channel that is closed when the turn is over, even if it never started.
func (t *Turn[Ask, Answer]) Done() <-chan struct{} { return t.done }

// Result returns the result of the turn. It must be called only after Done is closed.
func (t *Turn[Ask, Answer]) Result() (Answer, error) { return t.answer, t.err }

// Join joins the waiting turn. If there is none, it creates a turn that the caller leads: the caller must call Begin when the turn starts,
// and Finish in any case.
func (c *Calls[Ask, Answer]) Join(ask Ask) (turn *Turn[Ask, Answer], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if leads = c.waiting == nil; leads {
		c.waiting = &Turn[Ask, Answer]{done: make(chan struct{})}
	}
	c.waiting.asks = append(c.waiting.asks, ask)
	return c.waiting, leads
}

// Begin returns the requests of a turn. Calls that join later get the next turn.
func (c *Calls[Ask, Answer]) Begin(turn *Turn[Ask, Answer]) []Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(turn)
	return turn.asks
}

// Finish passes the result to all calls of a turn. The turn need not have started.
func (c *Calls[Ask, Answer]) Finish(turn *Turn[Ask, Answer], answer Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(turn)
	turn.answer, turn.err = answer, err
	close(turn.done)
}

// close closes a turn for further calls. The caller holds the lock.
func (c *Calls[Ask, Answer]) close(turn *Turn[Ask, Answer]) {
	if c.waiting == turn {
		c.waiting = nil
	}
}
