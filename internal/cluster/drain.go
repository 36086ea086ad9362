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
	// movesAtOnce is how many sessions of a node that drains move at the same time.
	movesAtOnce = 8
	// drainLook is how often a node that drains looks for sessions that have become idle.
	drainLook = 250 * time.Millisecond
	// drainAgain is how soon a session is tried again that could not be moved.
	drainAgain = 2 * time.Second
	// drainMove is how long a session may take to stop when its node drains, before its calls go on, and it is tried again.
	drainMove = 20 * time.Second
)

// Operations are what an operator does with a Node. The methods are safe for concurrent use.
type Operations struct {
	node *Node
	// ctx ends with the Node, or by Halt; done is closed when no session is moved any more to drain the node.
	ctx  context.Context
	halt context.CancelFunc
	done chan struct{}
	// wanted is filled when the node begins to drain.
	wanted chan struct{}

	mu sync.Mutex
	// moved has the nodes that got the sessions that have left, and failed, why and when the last attempt to move a session failed.
	moved  map[string]string
	failed map[string]failure
	// looked is closed and replaced when sessions were looked for.
	looked chan struct{}
}

// failure is an attempt to move a session that failed.
type failure struct {
	why error
	at  time.Time
}

// Drained is how far a node has drained.
type Drained struct {
	// Moved has the nodes that got the sessions that have left, by session.
	Moved map[string]string
	// Left says why a session is still there: ErrBusy, ErrNoRoom, ErrMoving, or the error of the last attempt to move it.
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

// Drain moves this node's sessions to others: those with Restore, and the others when they are idle. From its begin on the node takes
// no new sessions: other nodes learn of that within a moment, and until then Acquire refuses what they place here. Drain returns when
// no session is left, or with an error when ctx ends, or after Halt or Undrain. The node goes on draining until Undrain, also when it leaves the
// cluster and joins again within an hour.
func (o *Operations) Drain(ctx context.Context) (Drained, error) {
	if !o.node.drained.Swap(true) {
		o.soon()
	}
	return o.Empty(ctx)
}

// Empty is Drain for a node that is about to leave: when it joins again it takes sessions, unless Drain was called, too.
func (o *Operations) Empty(ctx context.Context) (Drained, error) {
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

// Undrain lets the node take sessions again. Moves that are under way go on.
func (o *Operations) Undrain() {
	o.node.drained.Store(false)
	if o.node.draining.Swap(false) {
		o.soon()
		o.report()
	}
}

// soon lets others learn of the state with a renewal at once.
func (o *Operations) soon() {
	if m := o.node.member.Load(); m != nil {
		m.keeper.Soon()
	}
}

// Halt moves no more sessions to drain the node, and returns when none is on its way. The node goes on draining.
func (o *Operations) Halt() {
	o.halt()
	<-o.done
}

// begin begins to drain the node.
func (o *Operations) begin() {
	o.mu.Lock()
	clear(o.moved)
	clear(o.failed)
	o.mu.Unlock()
	o.soon()
	poke(o.wanted)
}

// next is closed when sessions were looked for next time.
func (o *Operations) next() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looked
}

// drained is how far the node has drained.
func (o *Operations) drained() Drained {
	names := o.node.own.List(func(*holding) bool { return true })
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

// run moves sessions while the node drains. Nobody waits for a session whose calls do not end, but run at its end.
func (o *Operations) run() {
	defer close(o.done)
	moves := moves{slots: make(chan struct{}, movesAtOnce)}
	defer moves.running.Wait()
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for {
		if !o.node.draining.Load() {
			tick.Stop()
		}
		select {
		case <-o.wanted:
			tick.Reset(drainLook)
		case <-tick.C:
		case <-o.ctx.Done():
			return
		}
		if o.node.draining.Load() {
			o.move(&moves)
		}
	}
}

// moves are those that are under way.
type moves struct {
	running sync.WaitGroup
	slots   chan struct{}
}

// begin runs a move, if there is a slot.
func (m *moves) begin(move func()) {
	select {
	case m.slots <- struct{}{}:
		m.running.Go(func() {
			defer func() { <-m.slots }()
			move()
		})
	default: // it is looked for again
	}
}

// move begins to move what can be moved now.
func (o *Operations) move(all *moves) {
	n := o.node
	var moving []string
	for _, name := range n.own.List(func(h *holding) bool { return h.Phase == registry.Ready }) {
		if h, ok := n.own.Get(name); ok && (h.Restore || n.cfg.Host.Idle(name)) && o.mayTry(name) {
			moving = append(moving, name)
		}
	}
	places, left := placement.Spread(moving, n.others())
	o.mu.Lock()
	for _, name := range left {
		o.failed[name] = failure{why: ErrNoRoom} // it is tried again at once
	}
	o.mu.Unlock()
	for name, owner := range places {
		all.begin(func() { o.moveOne(name, owner) })
	}
	o.report()
}

// mayTry reports whether a session may be moved now that perhaps could not be before.
func (o *Operations) mayTry(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.failed[name].at) >= drainAgain
}

// report lets those who wait look again.
func (o *Operations) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.looked)
	o.looked = make(chan struct{})
}

// moveOne moves one session, and notes how that ended.
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
	case !errors.Is(err, ErrElsewhere): // nobody else moves it
		o.failed[name] = failure{err, time.Now()}
		o.node.log.Warn("a session was not moved", "session", name, "error", err)
	}
}
