package cluster

import (
	"context"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// Kill ends a node like a crash of its process, without a message to other nodes.
func Kill(n *Node) {
	n.end()
	n.running.Wait()
	n.unanswered()
	_, _ = n.member.Load().renewer.Release() // without an update of the registry
	n.reg.Close()
}

// Sessions returns a channel that is closed when the node learns of a change of a session.
func (n *Node) Sessions() <-chan struct{} { return n.reg.Sessions.View().Changed() }

// Leases returns a channel that is closed when the node learns that a node has renewed its lease.
func (n *Node) Leases() <-chan struct{} { return n.reg.Nodes.View().Changed() }

// Lose removes a session from a node but not from the registry, as when its name could not be released.
func Lose(n *Node, session string) { n.own.Remove(session) }

// Gap reports whether the registry has lost the last entry of a session, as the node knows it.
func Gap(n *Node, session string) (base uint64, open bool) {
	g, open := n.ledger.Gap(session)
	return g.Base, open
}

// Disclaim makes a node forgo a session under all tokens up to the given one. It returns false if the node has the session.
func Forgo(n *Node, session string, token uint64) bool { return n.own.Disclaim(session, token) }

// SessionEntry returns the entry of a session that the node knows.
func (n *Node) SessionEntry(session string) (registry.Entry[registry.Session], bool) {
	return n.ledger.Entry(session)
}

// StoreReady marks a session as ready in the registry, as its node does, but does not inform the node.
func StoreReady(ctx context.Context, n *Node, session string) error {
	e, err := n.reg.Sessions.Get(ctx, session)
	if err == nil {
		e.Value.Phase = registry.Ready
		_, err = n.reg.Sessions.Update(ctx, session, e.Value, e.Revision)
	}
	return err
}
