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
	// moved has the nodes that got the sessions that have left, and failed, why the last attempt to move a session failed.
	moved  map[string]string
	failed map[string]error
	// looked is closed and replaced when sessions were looked for.
	looked chan struct{}
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
		moved: map[string]string{}, failed: map[string]error{}, looked: make(chan struct{}),
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
	names := o.node.own.list(func(*holding) bool { return true })
	o.mu.Lock()
	defer o.mu.Unlock()
	d := Drained{Moved: maps.Clone(o.moved), Left: map[string]error{}}
	for _, name := range names {
		h, ok := o.node.own.get(name)
		switch {
		case !ok: // it has just left
		case h.phase != registry.Ready:
			d.Left[name] = ErrMoving
		case !h.restore && !o.node.cfg.Host.Idle(name):
			d.Left[name] = ErrBusy
		case o.failed[name] != nil:
			d.Left[name] = o.failed[name]
		default:
			d.Left[name] = ErrMoving
		}
	}
	return d
}

// run moves sessions while the node drains.
func (o *Operations) run() {
	defer close(o.done)
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
			o.move()
		}
	}
}

// move moves what can be moved now.
func (o *Operations) move() {
	n := o.node
	var moving []string
	for _, name := range n.own.list(func(h *holding) bool { return h.phase == registry.Ready }) {
		if h, ok := n.own.get(name); ok && (h.restore || n.cfg.Host.Idle(name)) {
			moving = append(moving, name)
		}
	}
	places, left := placement.Spread(moving, n.others())
	failed := map[string]error{}
	for _, name := range left {
		failed[name] = ErrNoRoom
	}
	o.mu.Lock()
	o.failed = failed
	o.mu.Unlock()
	o.moveAll(moving, places)
	o.report()
}

// report lets those who wait look again.
func (o *Operations) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.looked)
	o.looked = make(chan struct{})
}

// moveAll moves sessions, some at once: a call that is under way delays only its own session and a few others.
func (o *Operations) moveAll(names []string, places map[string]string) {
	var moving sync.WaitGroup
	slots := make(chan struct{}, movesAtOnce)
	for _, name := range names {
		owner, ok := places[name]
		if !ok || o.ctx.Err() != nil {
			continue
		}
		slots <- struct{}{}
		moving.Go(func() {
			defer func() { <-slots }()
			o.moveOne(name, owner)
		})
	}
	moving.Wait()
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
	case !errors.Is(err, ErrElsewhere): // nobody else moves it
		o.failed[name] = err
		o.node.log.Warn("a session was not moved", "session", name, "error", err)
	}
}
