// Package batch lets calls of one kind that wait for a tab share one turn: a thousand clients that come at once fill no
// mailbox, and the page is asked once for all of them. Each gets an answer that is younger than its call, because a call
// that comes after the turn has begun waits for the next one.
//
// Calls has a lock, and nothing here waits while holding it. The package starts no goroutine.
package batch

import "sync"

// Calls are the calls of one kind. The zero value has none. It is safe for concurrent use.
type Calls[Ask, Answer any] struct {
	mu sync.Mutex
	// waiting is the turn that has not begun yet, or nil.
	waiting *Turn[Ask, Answer]
}

// Turn is a turn of the tab that calls share.
type Turn[Ask, Answer any] struct {
	// asks is what they ask for; it grows until the turn begins.
	asks []Ask
	// done is closed when the turn is over; then answer and err say how it went.
	done   chan struct{}
	answer Answer
	err    error
}

// Done is closed when the turn is over, whether it ever began or not.
func (t *Turn[Ask, Answer]) Done() <-chan struct{} { return t.done }

// Result says how the turn went. It is called when Done is closed.
func (t *Turn[Ask, Answer]) Result() (Answer, error) { return t.answer, t.err }

// Join joins the turn that waits, or makes one, which the caller leads: the caller owes Begin when the turn begins, and
// Finish in any case.
func (c *Calls[Ask, Answer]) Join(ask Ask) (turn *Turn[Ask, Answer], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if leads = c.waiting == nil; leads {
		c.waiting = &Turn[Ask, Answer]{done: make(chan struct{})}
	}
	c.waiting.asks = append(c.waiting.asks, ask)
	return c.waiting, leads
}

// Begin returns what a turn is for. A call that joins from now on gets the next turn.
func (c *Calls[Ask, Answer]) Begin(turn *Turn[Ask, Answer]) []Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(turn)
	return turn.asks
}

// Finish gives all calls of a turn its result. The turn may never have begun.
func (c *Calls[Ask, Answer]) Finish(turn *Turn[Ask, Answer], answer Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(turn)
	turn.answer, turn.err = answer, err
	close(turn.done)
}

// close lets no more calls join a turn; the caller holds the lock.
func (c *Calls[Ask, Answer]) close(turn *Turn[Ask, Answer]) {
	if c.waiting == turn {
		c.waiting = nil
	}
}
