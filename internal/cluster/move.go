package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// moveTries is how many times a move restarts because the session's entry changes concurrently.
const moveTries = 3

// Move moves a session of this node to the node named target. It waits for running calls to end; lookups wait for the new owner. Move does
// not wait until the target has restored the session. If this node is the target, Move does nothing. After an error the session stays on
// this node; it may have been restored, without its state if that could not be saved. Move returns ErrElsewhere, ErrFenced, the reason why
// the target accepts no session (ErrNoNode, ErrSilent, ErrDraining or ErrNoRoom), or an error of Host.Stop, States.Save or the registry.
func (o *Operations) Move(ctx context.Context, session, target string) error {
	n := o.node
	if h, ok := n.own.Get(session); target == n.cfg.ID && ok && h.Phase == registry.Ready {
		return nil
	}
	owner, err := n.ledger.Target(target, time.Now())
	if err != nil {
		return fmt.Errorf("move session %s to %s: %w", session, target, err)
	}
	return mover{n}.moveTo(ctx, session, owner)
}

// mover moves sessions of a Node to other nodes.
type mover struct{ *Node }

// moveTo moves a session to an incarnation of a node; see Move.
func (n mover) moveTo(ctx context.Context, session, owner string) error {
	if err := n.begin(ctx, session); err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	state, err := n.cfg.Host.Stop(ctx, session)
	if err != nil {
		return errors.Join(fmt.Errorf("move session %s: %w", session, err), n.resume(context.WithoutCancel(ctx), session))
	}
	return n.handOver(context.WithoutCancel(ctx), session, owner, state)
}

// resume makes a session usable again after it could not be stopped. Until then, lookups wait for its move.
func (n mover) resume(ctx context.Context, session string) error {
	err := n.ready(ctx, session)
	for ; err != nil && !errors.Is(err, ErrElsewhere) && !errors.Is(err, ErrFenced) && n.ctx.Err() == nil; err = n.ready(ctx, session) {
		registry.Pause(ctx)
	}
	return err
}

// begin marks a session as about to move. SetRestore may change the session's entry concurrently.
func (n mover) begin(ctx context.Context, session string) error {
	if !n.claim(ctx, session) {
		return ErrElsewhere
	}
	for try := 1; ; try++ {
		err := n.setPhase(ctx, session, registry.Moving)
		if err == nil {
			return nil
		}
		if !errors.Is(err, registry.ErrConflict) || try == moveTries || ctx.Err() != nil {
			n.own.Update(session, func(h *ownedSession) { h.Phase = registry.Ready })
			return err
		}
		registry.Pause(ctx)
	}
}

// claim claims a session for a move; see owned.Set.Claim. A session that other nodes can already use may first have to become ready
// here.
func (n mover) claim(ctx context.Context, session string) bool {
	for try := 1; ; try++ {
		if n.own.Claim(session) {
			return true
		}
		h, ok := n.own.Get(session)
		if !ok || h.Phase != registry.Restoring || try == moveTries || ctx.Err() != nil {
			return false
		}
		registry.Pause(ctx)
	}
}

// handOver assigns a stopped session of this node to another node. If that fails, the session restarts on this node.
func (n mover) handOver(ctx context.Context, session, owner string, state []byte) error {
	h, ok := n.own.Get(session)
	if !ok {
		return fmt.Errorf("move session %s: %w", session, ErrFenced)
	}
	node, known := n.ledger.Find(owner)
	err := n.cfg.States.Save(ctx, session, h.Token, state)
	if err == nil && !known {
		err = ErrNoRoom // the node has just left
	}
	if err != nil {
		node = registry.Node{ID: n.cfg.ID, Incarnation: h.Member.incarnation}
		n.log.Warn("a session stays on this node", "session", session, "error", err)
	}
	value := registry.Session{
		Node: node.ID, Incarnation: node.Incarnation, Fence: h.Token + 1, Phase: registry.Restoring, Restore: h.Restore, Settings: h.Settings,
	}
	ctx, end := h.Member.renewer.During(ctx)
	defer end()
	for {
		_, failed := n.store(ctx, session, value, h.Revision)
		if errors.Is(failed, registry.ErrConflict) {
			h.Revision, failed = n.replaces(ctx, session, h, value)
		}
		if failed == nil {
			break
		}
		if lost := h.Member.renewer.Check(); lost != nil || n.ctx.Err() != nil {
			err = errors.Join(err, failed, lost)
			break
		}
		registry.Pause(ctx)
	}
	n.own.Remove(session)
	notify(n.work) // the session may have been assigned to this node
	if err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	n.counts.Moved.Add(1)
	return nil
}

// errAgain reports that a write has to be repeated.
var errAgain = errors.New("the entry has another revision")

// replaces finds out why a session of this node could not be handed over. It returns nil if the session was handed over or has another
// owner. With errAgain it returns the revision that the next write has to replace.
func (n mover) replaces(ctx context.Context, session string, h ownedSession, value registry.Session) (revision uint64, err error) {
	e, err := n.reg.Sessions.Get(ctx, session)
	switch {
	case errors.Is(err, registry.ErrNotFound): // the registry has lost the entry; only a write proves that
		return 0, errAgain
	case err != nil:
		return h.Revision, err
	case ledger.OwnerOf(e.Value) == h.Member.key && e.Value.Fence != value.Fence:
		return e.Revision, errAgain
	}
	return e.Revision, nil
}
