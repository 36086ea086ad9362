package cluster

import (
	"context"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// Kill ends a node as the end of its process would: nothing is said to anybody.
func Kill(n *Node) {
	n.end()
	n.running.Wait()
	n.unanswered()
	_, _ = n.member.Load().keeper.Release() // without telling the registry
	n.reg.Close()
}

// Sessions is closed when a session changes, as far as the node knows.
func (n *Node) Sessions() <-chan struct{} { return n.reg.Sessions.View().Changed() }

// Leases is closed when a node renews its lease, as far as the node knows.
func (n *Node) Leases() <-chan struct{} { return n.reg.Nodes.View().Changed() }

// Lose makes a node forget a session, as when its name could not be given up.
func Lose(n *Node, session string) { n.own.Remove(session) }

// Gap reports whether the registry has lost the last entry of a session that a node knows.
func Gap(n *Node, session string) (base uint64, open bool) {
	g, open := n.ledger.Gap(session)
	return g.Base, open
}

// Forgo asks a node whether it does not have a session, nor ever will under a token.
func Forgo(n *Node, session string, token uint64) bool { return n.own.Forgo(session, token) }

// SessionEntry is the entry of a session that a node knows.
func (n *Node) SessionEntry(session string) (registry.Entry[registry.Session], bool) {
	return n.ledger.Entry(session)
}

// StoreReady stores that a session can be used, as its node does, but the node does not learn of that.
func StoreReady(ctx context.Context, n *Node, session string) error {
	e, err := n.reg.Sessions.Get(ctx, session)
	if err == nil {
		e.Value.Phase = registry.Ready
		_, err = n.reg.Sessions.Update(ctx, session, e.Value, e.Revision)
	}
	return err
}
