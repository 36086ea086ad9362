package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// NodeStatus describes a node as another node sees it.
type NodeStatus struct {
	registry.Node
	// Renewed is the time since this node learned of the last renewal of the lease.
	Renewed time.Duration
	// Silent reports that the node receives no sessions because it has not renewed its lease for too long.
	Silent bool
}

// State returns "gone", "silent", "draining" or "serving": the first of these that applies.
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

// SessionStatus describes a session and the node that has it.
type SessionStatus struct {
	Name string
	registry.Session
	// Tabs is the number of registered tabs.
	Tabs int
}

// Status lists the nodes and the sessions.
func (l *Ledger) Status(now time.Time) (nodes []NodeStatus, sessions []SessionStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]string{}
	for key, e := range l.nodes {
		if before, ok := last[e.Value.ID]; !ok || l.nodes[before].Revision < e.Revision {
			last[e.Value.ID] = key
		}
	}
	for _, key := range last {
		nodes = append(nodes, NodeStatus{Node: l.nodes[key].Value, Renewed: now.Sub(l.renewed[key]), Silent: l.silent[key]})
	}
	for name, e := range l.sessions {
		gone := l.nodes[OwnerOf(e.Value)].Value.Gone
		if gone && !IsMovable(e.Value) {
			continue
		}
		if gone { // another node is about to take it over
			e.Value.Phase = registry.Restoring
		}
		sessions = append(sessions, SessionStatus{Name: name, Session: e.Value})
	}
	slices.SortFunc(nodes, func(a, b NodeStatus) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(sessions, func(a, b SessionStatus) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, sessions
}
