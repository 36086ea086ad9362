package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// lookupBound limits how long a lookup waits for a session that moves or is restored.
const lookupBound = 30 * time.Second

// SessionOwner returns the node that owns a session. Without latest, it answers from this node's view, which may be slightly stale. With
// latest, it reads the registry; callers use that after a node has denied having the session. While the session moves or is restored,
// SessionOwner waits for up to 30 seconds, unless this node is cut off from the registry and would miss the result. It returns ErrNone,
// ErrGone, ErrFenced, or an error of the registry or ctx.
func (n *Node) SessionOwner(ctx context.Context, name string, latest bool) (Place, error) {
	p, seen, err := n.lookupOnce(ctx, name, latest, ledger.EntryVersion{})
	if !errors.Is(err, errWait) {
		return p, err // the common case
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lookupBound, fmt.Errorf("it was not restored in time: %w", context.DeadlineExceeded))
	defer cancel()
	for {
		lease := n.member.Load().renewer
		if lost := lease.Check(); lost != nil {
			return Place{}, fmt.Errorf("find session %s: %w: %w", name, ErrFenced, lost)
		}
		sessions, nodes := n.reg.Sessions.View().Changed(), n.ledger.Changed()
		p, _, err := n.lookupOnce(ctx, name, false, seen)
		if !errors.Is(err, errWait) {
			return p, err
		}
		select {
		case <-sessions:
		case <-nodes:
		case <-lease.Done():
		case <-ctx.Done():
			return Place{}, fmt.Errorf("find session %s: %w", name, context.Cause(ctx))
		case <-n.ctx.Done():
			return Place{}, fmt.Errorf("find session %s: this node is leaving the cluster: %w", name, registry.ErrUnavailable)
		}
	}
}

// errWait reports that a lookup has no answer yet but will have one soon.
var errWait = errors.New("the session is moving")

// lookupOnce makes one attempt for SessionOwner. It uses this node's view if that has an entry no older than least, and the registry's
// leader otherwise. It also returns the version that the answer is based on.
func (n *Node) lookupOnce(ctx context.Context, name string, latest bool, least ledger.EntryVersion) (Place, ledger.EntryVersion, error) {
	if h, ok := n.own.Get(name); ok && h.Phase == registry.Ready {
		p, err := n.ownPlace(name, h)
		return p, ledger.EntryVersion{Revision: h.Revision, Token: h.Token}, err
	}
	e, ok := n.ledger.Entry(name)
	_, open := n.ledger.Gap(name) // the registry lost entries that this node knows
	switch {
	case open:
	case ok && least.Later(e):
		return Place{}, least, errWait // the view is behind
	case !ok || latest:
		found, err := n.reg.Sessions.Get(ctx, name)
		switch {
		case errors.Is(err, registry.ErrNotFound) && !ok:
			return Place{}, ledger.EntryVersion{}, fmt.Errorf("find session %s: %w", name, ErrNone)
		case errors.Is(err, registry.ErrNotFound): // the registry has lost it, or the view is behind
			gone := ledger.EntryVersionOf(e)
			gone.Revision++ // wait until the view has a newer entry, or none
			return Place{}, gone, errWait
		case err != nil:
			return Place{}, ledger.EntryVersion{}, err
		}
		e = found
	}
	p, err := n.locate(name, e)
	return p, ledger.EntryVersionOf(e), err
}

// locate returns the place that an entry names.
func (n *Node) locate(name string, e registry.Entry[registry.Session]) (Place, error) {
	owner, known := n.ledger.Find(ledger.OwnerOf(e.Value))
	switch {
	case known && owner.Gone && !ledger.IsMovable(e.Value):
		return Place{}, fmt.Errorf("find session %s on %s: %w", name, e.Value.Node, ErrGone)
	case !known || owner.Gone || e.Value.Phase != registry.Ready:
		return Place{}, errWait
	case ledger.OwnerOf(e.Value) == n.member.Load().key:
		if h, ok := n.own.Get(name); ok { // the view was faster than own
			return n.ownPlace(name, h)
		}
		return Place{}, errWait
	}
	return n.place(owner), nil
}

// ownPlace returns this node's place if it may still act on the session.
func (n *Node) ownPlace(name string, h ownedSession) (Place, error) {
	if err := n.Check(name); err != nil {
		return Place{}, err
	}
	return n.here(h.Member), nil
}

// TabOwner returns the node that owns a tab's session; see SessionOwner.
func (n *Node) TabOwner(ctx context.Context, tab string, latest bool) (Place, error) {
	e, ok := n.reg.Tabs.View().Get(tab)
	if !ok || latest {
		found, err := n.reg.Tabs.Get(ctx, tab)
		if errors.Is(err, registry.ErrNotFound) {
			return Place{}, fmt.Errorf("find tab %s: %w", tab, ErrNone)
		}
		if err != nil {
			return Place{}, err
		}
		e = found
	}
	return n.SessionOwner(ctx, e.Value.Session, latest)
}

// CountOthers counts the accepted sessions of other nodes, and their tabs. It reads only this node's view.
func (n *Node) CountOthers(accept func(session string) bool) (sessions, tabs int) {
	there := n.ledger.Names(accept)
	maps.DeleteFunc(there, func(name string, _ bool) bool { _, here := n.own.Get(name); return here })
	for _, e := range n.reg.Tabs.View().All() {
		if there[e.Value.Session] {
			tabs++
		}
	}
	return len(there), tabs
}

// Place chooses a node for a new session. The name is empty if the session has none yet. The chosen node may still refuse the session in
// Acquire. If no node has room, Place returns ErrNoRoom.
func (n *Node) Place(session string) (Place, error) {
	owner, ok := n.ledger.Choose(session, time.Now())
	node, known := n.ledger.Find(owner)
	if !ok || !known {
		return Place{}, fmt.Errorf("place session %s: %w", session, ErrNoRoom)
	}
	return n.place(node), nil
}

// Nodes lists the nodes of the cluster, this one included, by name.
func (n *Node) Nodes() []registry.Node { return n.ledger.Live() }

// Changed returns a channel that is closed when a node joins, leaves or starts to drain.
func (n *Node) Changed() <-chan struct{} { return n.ledger.Changed() }

// Err reports why this node accepts no new sessions: ErrFenced while it is cut off, ErrDraining while it drains. It returns nil if the node
// accepts sessions.
func (n *Node) Err() error {
	if err := n.member.Load().renewer.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	if n.draining.Load() {
		return ErrDraining
	}
	return nil
}

// Here returns this node's place.
func (n *Node) Here() Place { return n.here(n.member.Load()) }

func (n *Node) here(m *member) Place {
	return Place{Node: n.cfg.ID, Incarnation: m.incarnation, Address: n.cfg.Address, Local: true}
}

func (n *Node) place(node registry.Node) Place {
	return Place{Node: node.ID, Incarnation: node.Incarnation, Address: node.Address, Local: registry.NodeKey(node.ID, node.Incarnation) == n.member.Load().key}
}
