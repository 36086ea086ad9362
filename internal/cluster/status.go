package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/domtap/domtap/internal/cluster/registry"
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

// NodeStatus is what a node knows of a node of its cluster.
type NodeStatus struct {
	registry.Node
	// Renewed is how long ago this node learned of the last renewal of the lease.
	Renewed time.Duration
	// Silent: it has not renewed its lease for so long that it gets no sessions.
	Silent bool
}

// State is "gone", "silent", "draining" or "serving": the first that is true.
func (n NodeStatus) State() string {
	switch {
	case n.Gone:
		return "gone"
	case n.Silent:
		return "silent"
	case n.Draining:
		return "draining"
	}
	return "serving"
}

// SessionStatus says where a session is.
type SessionStatus struct {
	Name string
	registry.Session
	// Tabs is how many tabs are registered.
	Tabs int
}

// Status is what this node knows of the cluster. It asks nobody.
func (o *Operations) Status() Status {
	n := o.node
	nodes, sessions := n.ledger.status(time.Now())
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

// status lists the nodes and the sessions.
func (l *ledger) status(now time.Time) (nodes []NodeStatus, sessions []SessionStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]string{}
	for key, e := range l.nodes {
		if before, ok := last[e.Value.ID]; !ok || l.nodes[before].Revision < e.Revision {
			last[e.Value.ID] = key
		}
	}
	for _, key := range last {
		nodes = append(nodes, NodeStatus{Node: l.nodes[key].Value, Renewed: now.Sub(l.renewed[key]), Silent: l.quiet[key]})
	}
	for name, e := range l.sessions {
		gone := l.nodes[ownerOf(e.Value)].Value.Gone
		if gone && !movable(e.Value) {
			continue
		}
		if gone { // another node is about to have it
			e.Value.Phase = registry.Restoring
		}
		sessions = append(sessions, SessionStatus{Name: name, Session: e.Value})
	}
	slices.SortFunc(nodes, func(a, b NodeStatus) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(sessions, func(a, b SessionStatus) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, sessions
}
