package cluster

import (
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
)

// Status describes the cluster as one node sees it.
type Status struct {
	// Nodes lists the nodes by name, each in the incarnation that renewed its lease last. Nodes that are gone stay listed for an hour.
	Nodes []NodeStatus
	// Sessions lists the sessions by name, without those that ended with their nodes.
	Sessions []SessionStatus
	// Leader is the name of the NATS server that leads the registry. It is empty if unknown.
	Leader string
	// Age is the time since this node's view last equaled the registry.
	Age time.Duration
}

// NodeStatus describes a node of the cluster. SessionStatus describes a session and the node that has it.
type (
	NodeStatus    = ledger.NodeStatus
	SessionStatus = ledger.SessionStatus
)

// Status returns this node's view of the cluster. It makes no requests.
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
