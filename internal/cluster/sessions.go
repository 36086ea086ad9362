package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/owned"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Errors returned by this package, in addition to errors of the registry and of contexts.
var (
	// ErrExists reports that the session already exists, on this node or another.
	ErrExists = errors.New("the session exists already")
	// ErrFenced reports that this node's lease has ended, so another node may own the session.
	ErrFenced = errors.New("this node was cut off from the cluster, and may not act for the session any more")
	// ErrElsewhere reports that the session is not on this node.
	ErrElsewhere = errors.New("the session is not on this node")
	// ErrNone reports that the registry has no such session or tab.
	ErrNone = errors.New("no node has it")
	// ErrGone reports that the session's node is gone and that the session is not restored.
	ErrGone = errors.New("the node that had it is gone")
	// Reasons why a node accepts no session.
	ErrDraining, ErrNoRoom, ErrNoNode, ErrSilent = ledger.ErrDraining, ledger.ErrNoRoom, ledger.ErrNoNode, ledger.ErrSilent
	// ErrBusy reports that a call or a stream uses the session.
	ErrBusy = errors.New("a call or a stream uses the session")
	// ErrMoving reports that the session is moving, or about to move, to another node.
	ErrMoving = errors.New("the session is moving")
	// ErrUndrained reports that the drain was canceled by Undrain.
	ErrUndrained = errors.New("the node no longer drains")
)

// ownedSession is a session of this node, with the membership under which the node owns it.
type ownedSession = owned.Session[*member]

// Check returns an error unless this node may act for a session now. It makes no requests.
func (n *Node) Check(session string) error {
	h, ok := n.own.Get(session)
	if !ok {
		return fmt.Errorf("session %s: %w", session, ErrElsewhere)
	}
	if !h.Restore {
		return nil
	}
	if err := h.Member.renewer.Check(); err != nil {
		return fmt.Errorf("session %s: %w: %w", session, ErrFenced, err)
	}
	return nil
}

// Token returns the fencing token of a session of this node.
func (n *Node) Token(session string) (uint64, error) {
	h, ok := n.own.Get(session)
	if !ok || h.Token == 0 {
		return 0, fmt.Errorf("session %s: %w", session, ErrElsewhere)
	}
	return h.Token, nil
}

// Acquire creates a session on this node. It reserves the name in the cluster, calls create, and makes the session visible to other nodes.
// If Acquire fails, it frees the name and fences the session if create had succeeded. It returns ErrExists, ErrFenced, ErrNoRoom while the
// node drains, or an error of create or the registry.
func (n *Node) Acquire(ctx context.Context, name string, o Options, create func(ctx context.Context) error) error {
	m := n.member.Load()
	if err := m.renewer.Check(); err != nil {
		return fmt.Errorf("create session %s: %w: %w", name, ErrFenced, err)
	}
	if n.draining.Load() {
		return fmt.Errorf("create session %s: %s is draining: %w", name, n.cfg.ID, ErrNoRoom)
	}
	if !n.own.Add(name, ownedSession{Member: m, Restore: o.Restore, Phase: registry.Creating, Settings: o.Settings}) {
		return fmt.Errorf("create session %s: %w", name, ErrExists)
	}
	e, err := n.claim(ctx, name, n.value(m, registry.Creating, o))
	if err != nil {
		n.own.Remove(name) // sweep deletes the entry if it was stored after all
		return fmt.Errorf("create session %s: %w", name, err)
	}
	n.own.Update(name, func(h *ownedSession) { h.Revision, h.Token = e.Revision, registry.Token(e) })
	if err = create(ctx); err == nil {
		if err = n.ready(ctx, name); err == nil {
			return nil
		}
		n.cfg.Host.Fence(name)
	}
	return errors.Join(fmt.Errorf("create session %s: %w", name, err), n.Release(context.WithoutCancel(ctx), name))
}

// SetRestore sets whether other nodes take over a session of this node when this node is gone; see Options.Restore. It returns ErrElsewhere
// for a session that is being created or moved; callers may retry later. Calls for one session must not overlap.
func (n *Node) SetRestore(ctx context.Context, session string, on bool) error {
	for {
		h, ok := n.own.Get(session)
		switch {
		case !ok || h.Phase != registry.Ready:
			return fmt.Errorf("set restore of session %s: %w", session, ErrElsewhere)
		case h.Restore == on:
			return nil
		}
		if err := n.storeRestore(ctx, session, h, on); !errors.Is(err, registry.ErrConflict) {
			return err
		}
		if registry.Pause(ctx); ctx.Err() != nil {
			return fmt.Errorf("set restore of session %s: %w", session, context.Cause(ctx))
		}
	}
}

// Release frees the name of a session that was closed on this node, and deletes its tabs and state.
func (n *Node) Release(ctx context.Context, name string) error {
	h, ok := n.own.Get(name)
	if !ok {
		return nil
	}
	n.own.Remove(name)
	err := n.reg.Sessions.Remove(ctx, name, func(s registry.Session) bool { return ledger.OwnerOf(s) == h.Member.key })
	err = errors.Join(err, n.forgetTabs(ctx, name))
	if err = errors.Join(err, n.cfg.States.Delete(ctx, name, h.Token)); err != nil {
		return fmt.Errorf("release session %s: %w", name, err)
	}
	return nil
}

// SetTab registers a tab of a session of this node, or updates its entry. Calls for one tab must not overlap.
func (n *Node) SetTab(ctx context.Context, id string, tab registry.Tab) error {
	if err := n.Check(tab.Session); err != nil {
		return fmt.Errorf("register tab %s: %w", id, err)
	}
	e, _ := n.reg.Tabs.View().Get(id)
	for {
		var err error
		if e.Revision == 0 {
			_, err = n.reg.Tabs.Create(ctx, id, tab)
		} else {
			_, err = n.reg.Tabs.Update(ctx, id, tab, e.Revision)
		}
		if err == nil || errors.Is(err, registry.ErrUnavailable) {
			return err
		}
		if registry.Pause(ctx); ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		if e, err = n.reg.Tabs.Get(ctx, id); err != nil && !errors.Is(err, registry.ErrNotFound) {
			return err
		}
	}
}

// RemoveTab removes the entry of a closed tab.
func (n *Node) RemoveTab(ctx context.Context, id string) error {
	return n.reg.Tabs.Remove(ctx, id, func(registry.Tab) bool { return true })
}
