package cluster

import (
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
)

// Status is what a node knows of its cluster.
type Status struct {
	// Nodes are the nodes by name, each in the incarnation that renewed its lease last. Those that are gone stay for an hour.
	Nodes []NodeStatus
	// Sessions are the sessions by name, without those that ended with their nodes.
	Sessions []SessionStatus
	// Leader is the name of the NATS server that leads the registry; empty: unknown.
	Leader string
	// Age is how long ago this node had everything that the registry has.
	Age time.Duration
}

// NodeStatus is what a node knows of a node of its cluster, and SessionStatus where a session is.
type (
	NodeStatus    = ledger.NodeStatus
	SessionStatus = ledger.SessionStatus
)

// Status is what this node knows of the cluster. It asks nobody.
func (o *Operations) Status() Status {
	n := o.node
	nodes, sessions := n.ledger.Status(time.Now())
	tabs := map[string]int{}
	for _, e := range n.reg.Tabs.View().All() {
		tabs[e.Value.Session]++
	}
	for i := range sessions {
		sessions[i].Tabs = tabs[sessions[i].Name]
	}
	view := n.reg.Nodes.View()
	return Status{Nodes: nodes, Sessions: sessions, Leader: view.Leader(), Age: max(view.Age(), n.reg.Sessions.View().Age())}
}
