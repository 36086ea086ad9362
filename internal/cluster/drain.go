package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

const (
	// maxMoves limits how many sessions of a draining node move concurrently.
	maxMoves = 8
	// drainInterval is the interval at which a draining node looks for idle sessions.
	drainInterval = 250 * time.Millisecond
	// drainAgain is the delay before a failed move is retried.
	drainAgain = 2 * time.Second
	// drainMove limits how long a session may take to stop. After that its calls continue, and the move is retried later.
	drainMove = 20 * time.Second
)

// Operations provides the operator's actions on a Node. Its methods are safe for concurrent use.
type Operations struct {
	node *Node
	// ctx ends when the Node is closed or Halt is called. done is closed when run has returned.
	ctx  context.Context
	halt context.CancelFunc
	done chan struct{}
	// wanted receives a value when the node starts to drain.
	wanted chan struct{}

	mu sync.Mutex
	// moved maps sessions that have left to their new nodes. failed maps sessions to their last failed attempt to move.
	moved  map[string]string
	failed map[string]failure
	// looked is closed and replaced after each search for sessions to move.
	looked chan struct{}
}

// failure is a failed attempt to move a session.
type failure struct {
	why error
	at  time.Time
}

// Drained is the progress of a drain.
type Drained struct {
	// Moved maps each session that has left to its new node.
	Moved map[string]string
	// Left maps each remaining session to the reason: ErrBusy, ErrNoRoom, ErrMoving, or the error of the last attempt to move it.
	Left map[string]error
}

func newOperations(n *Node) *Operations {
	o := &Operations{
		node: n, done: make(chan struct{}), wanted: make(chan struct{}, 1),
		moved: map[string]string{}, failed: map[string]failure{}, looked: make(chan struct{}),
	}
	o.ctx, o.halt = context.WithCancel(n.ctx)
	return o
}

// Drain moves this node's sessions to other nodes. Sessions with Restore move immediately, the others when they are idle. A draining node
// accepts no new sessions; until other nodes have learned of the drain, Acquire refuses the sessions that they place here. Drain returns
// nil when no session is left. It returns an error when ctx ends, or after Halt or Undrain. The node keeps draining until Undrain, even if
// it leaves the cluster and joins again within an hour.
func (o *Operations) Drain(ctx context.Context) (Drained, error) {
	if !o.node.drained.Swap(true) {
		o.renewNow()
	}
	return o.Evacuate(ctx)
}

// Evacuate moves sessions as Drain does, for a node that is about to leave. When the node joins again it accepts sessions, unless Drain was
// also called.
func (o *Operations) Evacuate(ctx context.Context) (Drained, error) {
	if !o.node.draining.Swap(true) {
		o.begin()
	}
	for {
		looked := o.next()
		now := o.drained()
		if len(now.Left) == 0 {
			return now, nil
		}
		if !o.node.draining.Load() {
			return now, ErrUndrained
		}
		var err error
		select {
		case <-looked:
			continue
		case <-o.done:
			err = errors.New("this node stops")
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		now = o.drained()
		return now, fmt.Errorf("%d sessions are left: %w", len(now.Left), err)
	}
}

// Undrain lets the node accept sessions again. Moves in progress continue.
func (o *Operations) Undrain() {
	o.node.drained.Store(false)
	if o.node.draining.Swap(false) {
		o.renewNow()
		o.report()
	}
}

// renewNow renews the lease immediately, so that other nodes learn of the new state.
func (o *Operations) renewNow() {
	if m := o.node.member.Load(); m != nil {
		m.renewer.RenewNow()
	}
}

// Halt starts no further moves and returns when the moves in progress have ended. The node stays in the draining state.
func (o *Operations) Halt() {
	o.halt()
	<-o.done
}

// begin starts to drain the node.
func (o *Operations) begin() {
	o.mu.Lock()
	clear(o.moved)
	clear(o.failed)
	o.mu.Unlock()
	o.renewNow()
	notify(o.wanted)
}

// next returns a channel that is closed after the next search for sessions to move.
func (o *Operations) next() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looked
}

// drained returns the progress of the drain.
func (o *Operations) drained() Drained {
	names := o.node.own.List(func(*ownedSession) bool { return true })
	o.mu.Lock()
	defer o.mu.Unlock()
	d := Drained{Moved: maps.Clone(o.moved), Left: map[string]error{}}
	for _, name := range names {
		h, ok := o.node.own.Get(name)
		switch {
		case !ok: // it has just left
		case h.Phase != registry.Ready:
			d.Left[name] = ErrMoving
		case !h.Restore && !o.node.cfg.Host.Idle(name):
			d.Left[name] = ErrBusy
		case o.failed[name].why != nil:
			d.Left[name] = o.failed[name].why
		default:
			d.Left[name] = ErrMoving
		}
	}
	return d
}

// run moves sessions while the node drains. A session with long calls delays no other session; only the return of run waits for it.
func (o *Operations) run() {
	defer close(o.done)
	moves := moves{slots: make(chan struct{}, maxMoves)}
	defer moves.running.Wait()
	tick := time.NewTicker(drainInterval)
	defer tick.Stop()
	for {
		if !o.node.draining.Load() {
			tick.Stop()
		}
		select {
		case <-o.wanted:
			tick.Reset(drainInterval)
		case <-tick.C:
		case <-o.ctx.Done():
			return
		}
		if o.node.draining.Load() {
			o.move(&moves)
		}
	}
}

// moves tracks the moves in progress.
type moves struct {
	running sync.WaitGroup
	slots   chan struct{}
}

// begin starts a move if a slot is free.
func (m *moves) begin(move func()) {
	select {
	case m.slots <- struct{}{}:
		m.running.Go(func() {
			defer func() { <-m.slots }()
			move()
		})
	default: // the next look finds it again
	}
}

// move starts to move the sessions that can move now.
func (o *Operations) move(all *moves) {
	n := o.node
	var moving []string
	for _, name := range n.own.List(func(h *ownedSession) bool { return h.Phase == registry.Ready }) {
		if h, ok := n.own.Get(name); ok && (h.Restore || n.cfg.Host.Idle(name)) && o.mayTry(name) {
			moving = append(moving, name)
		}
	}
	places, left := placement.ChooseAll(moving, n.others())
	o.mu.Lock()
	for _, name := range left {
		o.failed[name] = failure{why: ErrNoRoom} // the next pass retries it
	}
	o.mu.Unlock()
	for name, owner := range places {
		all.begin(func() { o.moveOne(name, owner) })
	}
	o.report()
}

// mayTry reports whether enough time has passed since the last failed attempt to move a session.
func (o *Operations) mayTry(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.failed[name].at) >= drainAgain
}

// report wakes the callers that wait in Drain and Evacuate.
func (o *Operations) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.looked)
	o.looked = make(chan struct{})
}

// moveOne moves one session and records the outcome.
func (o *Operations) moveOne(name, owner string) {
	ctx, cancel := context.WithTimeout(o.ctx, drainMove)
	defer cancel()
	err := mover{o.node}.moveTo(ctx, name, owner)
	defer o.report()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil:
		to, _ := o.node.ledger.Find(owner)
		o.moved[name] = to.ID
		delete(o.failed, name)
	case !errors.Is(err, ErrElsewhere): // no other call moves it
		o.failed[name] = failure{err, time.Now()}
		o.node.log.Warn("a session was not moved", "session", name, "error", err)
	}
}
