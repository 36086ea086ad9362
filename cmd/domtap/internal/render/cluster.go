package render

import (
	"fmt"
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Cluster returns a line about a cluster, and tables of its nodes and sessions.
func Cluster(c *domtapv1.GetClusterResponse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s, as seen by node %s %s ago", Line(c.GetCluster()), Line(c.GetNodeId()), brief(c.GetAge().AsDuration()))
	if c.GetLeader() != "" {
		fmt.Fprintf(&b, "; leader of the registry: %s", Line(c.GetLeader()))
	}
	b.WriteString("\n\n" + nodes(c.GetNodes()))
	if len(c.GetSessions()) > 0 {
		b.WriteString("\n" + placements(c.GetSessions()))
	}
	return b.String()
}

func nodes(all []*domtapv1.ClusterNode) string {
	rows := [][]string{strings.Fields("NODE STATE SESSIONS TABS BUSY RENEWED ROLE VERSION ADDRESS")}
	for _, n := range all {
		rows = append(rows, []string{
			Line(n.GetNodeId()), lower(n.GetState().String(), "NODE_STATE_"), fmt.Sprintf("%d/%d", n.GetSessions(), n.GetMaxSessions()), number(int64(n.GetTabs())),
			fmt.Sprintf("%.0f%%", 100*n.GetBusy()), brief(n.GetRenewed().AsDuration()), lower(n.GetRole().String(), "NODE_ROLE_"), Cell(n.GetVersion(), 20), Line(n.GetAddress()),
		})
	}
	return grid("llrrrrlll", rows)
}

func placements(all []*domtapv1.ClusterSession) string {
	return table("SESSION\tNODE\tSTATE\tTABS\tRESTORE", all, func(s *domtapv1.ClusterSession) []string {
		restore := "no"
		if s.GetRestore() {
			restore = "yes"
		}
		return []string{Line(s.GetSessionId()), Line(s.GetNodeId()), lower(s.GetState().String(), "CLUSTER_SESSION_STATE_"), strconv.Itoa(int(s.GetTabs())), restore}
	})
}

// lower returns the readable name of an enum value, or "-" for the unspecified value.
func lower(name, prefix string) string {
	if name = strings.TrimPrefix(name, prefix); name == "UNSPECIFIED" {
		return "-"
	}
	return strings.ToLower(name)
}

// Drained returns a line for each session that has left a draining node or remains on it, and one about the node. undone means that the
// node accepts sessions again.
func Drained(d *domtapv1.DrainNodeResponse, undone bool) string {
	var b strings.Builder
	for _, m := range d.GetMoved() {
		fmt.Fprintf(&b, "moved %s to %s\n", Line(m.GetSessionId()), Line(m.GetNodeId()))
	}
	for _, l := range d.GetLeft() {
		fmt.Fprintf(&b, "left %s: %s\n", Line(l.GetSessionId()), Line(l.GetMessage()))
	}
	switch {
	case undone:
		fmt.Fprintf(&b, "node %s accepts sessions again\n", Line(d.GetNodeId()))
	case len(d.GetLeft()) == 0:
		fmt.Fprintf(&b, "node %s has no sessions and can be stopped\n", Line(d.GetNodeId()))
	}
	return b.String()
}

// MovedSession reports the old and the new node of a session.
func MovedSession(m *domtapv1.MoveSessionResponse) string {
	if m.GetFromNodeId() == m.GetNodeId() {
		return fmt.Sprintf("%s is already on node %s\n", Line(m.GetSessionId()), Line(m.GetNodeId()))
	}
	return fmt.Sprintf("moved %s from node %s to node %s\n", Line(m.GetSessionId()), Line(m.GetFromNodeId()), Line(m.GetNodeId()))
}
