package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// moveTries is how often a move begins again when the entry of the session changes at the same time, or is about to.
const moveTries = 3

// Move moves a session of this node to another one, by the name of that. Calls that are under way end first, and lookups wait for the
// new owner. Move does not wait until that has restored the session. A session that is at the target stays. After an error the session
// stays here; it may have been restored, without its state if that could not be saved. Errors are ErrElsewhere, ErrFenced, those that
// say why the target takes no session (ErrNoNode, ErrSilent, ErrDraining, ErrNoRoom), those of Host.Stop and States.Save, and those of
// the registry.
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

// mover moves sessions of a Node to others.
type mover struct{ *Node }

// moveTo is Move to the incarnation of a node.
func (n mover) moveTo(ctx context.Context, session, owner string) error {
	if err := n.begin(ctx, session); err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	state, err := n.cfg.Host.Stop(ctx, session)
	if err != nil {
		return errors.Join(fmt.Errorf("move session %s: %w", session, err), n.stay(context.WithoutCancel(ctx), session))
	}
	return n.handOver(context.WithoutCancel(ctx), session, owner, state)
}

// stay lets others use a session again that could not be stopped: until they can, they wait for its move.
func (n mover) stay(ctx context.Context, session string) error {
	err := n.ready(ctx, session)
	for ; err != nil && !errors.Is(err, ErrElsewhere) && !errors.Is(err, ErrFenced) && n.ctx.Err() == nil; err = n.ready(ctx, session) {
		registry.Pause(ctx)
	}
	return err
}

// begin says that a session is about to move. Somebody may say at the same time whether it is restored.
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
			n.own.Update(session, func(h *holding) { h.Phase = registry.Ready })
			return err
		}
		registry.Pause(ctx)
	}
}

// claim is that of holdings. A session that others can use already may have to become ready here first.
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

// handOver gives a stopped session of this node to another one. When that cannot be, the session begins again here.
func (n mover) handOver(ctx context.Context, session, owner string, state []byte) error {
	h, ok := n.own.Get(session)
	if !ok {
		return fmt.Errorf("move session %s: %w", session, ErrFenced)
	}
	node, known := n.ledger.Find(owner)
	err := n.cfg.States.Save(ctx, session, h.Token, state)
	if err == nil && !known {
		err = ErrNoRoom // it has just gone
	}
	if err != nil {
		node = registry.Node{ID: n.cfg.ID, Incarnation: h.Member.incarnation}
		n.log.Warn("a session stays on this node", "session", session, "error", err)
	}
	value := registry.Session{
		Node: node.ID, Incarnation: node.Incarnation, Fence: h.Token + 1, Phase: registry.Restoring, Restore: h.Restore, Settings: h.Settings,
	}
	ctx, end := h.Member.keeper.During(ctx)
	defer end()
	for {
		_, failed := n.store(ctx, session, value, h.Revision)
		if errors.Is(failed, registry.ErrConflict) {
			h.Revision, failed = n.replaces(ctx, session, h, value)
		}
		if failed == nil {
			break
		}
		if lost := h.Member.keeper.Check(); lost != nil || n.ctx.Err() != nil {
			err = errors.Join(err, failed, lost)
			break
		}
		registry.Pause(ctx)
	}
	n.own.Remove(session)
	poke(n.work) // it may have been given to this node
	if err != nil {
		return fmt.Errorf("move session %s: %w", session, err)
	}
	n.counts.Moved.Add(1)
	return nil
}

// errAgain says that a write is to be made again.
var errAgain = errors.New("the entry has another revision")

// replaces finds out why a session of this node could not be given away: nil, it was, or somebody else has it; and else the revision that is
// to be replaced.
func (n mover) replaces(ctx context.Context, session string, h holding, value registry.Session) (revision uint64, err error) {
	e, err := n.reg.Sessions.Get(ctx, session)
	switch {
	case errors.Is(err, registry.ErrNotFound): // the registry has lost it: only storing it proves that
		return 0, errAgain
	case err != nil:
		return h.Revision, err
	case ledger.OwnerOf(e.Value) == h.Member.key && e.Value.Fence != value.Fence:
		return e.Revision, errAgain
	}
	return e.Revision, nil
}
