package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// movesAtOnce is how many sessions Drain moves at the same time.
const movesAtOnce = 8

// drainLook is how often Drain looks for sessions that have become idle.
const drainLook = 250 * time.Millisecond

// Move moves a session of this node to another one, by the name of that. Calls that are under way end first, and lookups wait for the
// new owner. Move does not wait until that has restored the session. After an error the session stays here; it may have been restored,
// without its state if that could not be saved. Errors are ErrElsewhere, ErrFenced, ErrNoRoom when the target takes no session, those
// of Host.Stop and States.Save, and those of the registry.
func (n *Node) Move(ctx context.Context, session, target string) error {
	owner := ""
	for _, c := range n.ledger.candidates(time.Now()) {
		if node, _ := n.ledger.find(c.ID); node.ID == target && node.ID != n.cfg.ID && !c.Draining && c.Sessions < c.Capacity {
			owner = c.ID
		}
	}
	if owner == "" {
		return fmt.Errorf("move session %s to %s: %w", session, target, ErrNoRoom)
	}
	return mover{n}.moveTo(ctx, session, owner)
}

// mover moves sessions of a Node to others.
type mover struct{ *Node }

// moveTo is Move to the incarnation of a node.
func (n mover) moveTo(ctx context.Context, session, owner string) error {
	h, ok := n.own.get(session)
	if !ok || h.phase != registry.Ready {
		return fmt.Errorf("move session %s: %w", session, ErrElsewhere)
	}
	if err := n.setPhase(ctx, session, registry.Moving); err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	state, err := n.cfg.Host.Stop(ctx, session)
	if err != nil {
		return errors.Join(fmt.Errorf("move session %s: %w", session, err), n.ready(context.WithoutCancel(ctx), session))
	}
	return n.handOver(context.WithoutCancel(ctx), session, owner, state)
}

// handOver gives a stopped session of this node to another one. When that cannot be, the session begins again here.
func (n mover) handOver(ctx context.Context, session, owner string, state []byte) error {
	h, ok := n.own.get(session)
	if !ok {
		return fmt.Errorf("move session %s: %w", session, ErrFenced)
	}
	node, known := n.ledger.find(owner)
	err := n.cfg.States.Save(ctx, session, h.token, state)
	if err == nil && !known {
		err = ErrNoRoom // it has just gone
	}
	if err != nil {
		node = registry.Node{ID: n.cfg.ID, Incarnation: h.member.incarnation}
		n.log.Warn("a session stays on this node", "session", session, "error", err)
	}
	value := registry.Session{Node: node.ID, Incarnation: node.Incarnation, Phase: registry.Restoring, Restore: h.restore, Settings: h.settings}
	for {
		_, failed := n.store(ctx, session, value, h.revision)
		if failed == nil || errors.Is(failed, registry.ErrConflict) {
			break // in a conflict, somebody else has it already
		}
		if lost := h.member.keeper.Check(); lost != nil || n.ctx.Err() != nil {
			err = errors.Join(err, failed, lost)
			break
		}
		pause(ctx)
	}
	n.own.remove(session)
	poke(n.work) // it may have been given to this node
	if err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	return nil
}

// Drain moves this node's sessions to others: those with Restore, and the others when they are idle. From its begin on the node takes
// no new sessions: other nodes learn of that within a moment, and until then Acquire refuses what they place here. Drain returns when
// no session is left, or with the error of ctx when that ends; the node goes on draining.
func (n *Node) Drain(ctx context.Context) error {
	n.draining.Store(true)
	n.member.Load().keeper.Soon() // others learn of it with the next renewal
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for {
		left := mover{n}.drainOnce(ctx)
		if left == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d sessions are left: %w", left, context.Cause(ctx))
		}
	}
}

// drainOnce moves what can be moved now, and returns how many sessions are left.
func (n mover) drainOnce(ctx context.Context) (left int) {
	names := n.own.list(func(h *holding) bool { return h.phase == registry.Ready })
	var moving []string
	for _, name := range names {
		if h, ok := n.own.get(name); ok && (h.restore || n.cfg.Host.Idle(name)) {
			moving = append(moving, name)
		}
	}
	places, _ := placement.Spread(moving, n.others())
	n.moveAll(ctx, moving, places)
	return len(n.own.list(func(*holding) bool { return true }))
}

// moveAll moves sessions, some at once: a call that is under way delays only its own session and a few others.
func (n mover) moveAll(ctx context.Context, names []string, places map[string]string) {
	var moving sync.WaitGroup
	slots := make(chan struct{}, movesAtOnce)
	for _, name := range names {
		owner, ok := places[name]
		if !ok || ctx.Err() != nil {
			continue
		}
		slots <- struct{}{}
		moving.Go(func() {
			defer func() { <-slots }()
			if err := n.moveTo(ctx, name, owner); err != nil {
				n.log.Warn("a session was not moved", "session", name, "error", err)
			}
		})
	}
	moving.Wait()
}
