// Package placement chooses the nodes for sessions. Its functions are pure: the same input gives the same output.
//
// What the package guarantees:
//
//   - The chosen node is among the emptiest, measured by the used fraction of its capacity. Sessions that are placed one after another on
//     nodes with equal capacity deviate from an even distribution by at most a twentieth, or by one session.
//   - Among nodes that are about equally full, a hash of the session's name decides. Nodes with the same view of the cluster therefore
//     choose the same node for a session and spread different sessions, even if they choose concurrently.
//   - A draining or full node gets no sessions. A busy node gets sessions only while all available nodes are busy.
package placement

import (
	"hash/fnv"
	"slices"
)

// Node describes a candidate for a session.
type Node struct {
	ID string
	// Sessions is the number of sessions on the node. Capacity is the most that it accepts.
	Sessions, Capacity int
	// Busy is the recently used fraction of the node's processor time, from 0 to 1.
	Busy     float64
	Draining bool
}

// tooBusy is the fraction of processor time at which a node counts as busy.
const tooBusy = 0.9

// even limits the fill of the chosen node, as a multiple of the emptiest node's fill.
const even = 1.05

// Choose returns the node for a session. It returns false if no node has room.
func Choose(session string, nodes []Node) (id string, ok bool) {
	nodes = eligible(nodes)
	if len(nodes) == 0 {
		return "", false
	}
	least := slices.MinFunc(nodes, compareUtilization)
	limit := utilization(least) * even
	var chosen Node
	var best uint64
	for _, n := range nodes {
		if utilization(n) > limit {
			continue
		}
		if w := weight(session, n.ID); !ok || w > best || w == best && n.ID < chosen.ID {
			chosen, best, ok = n, w, true
		}
	}
	return chosen.ID, ok
}

// eligible returns the nodes that can get a session.
func eligible(nodes []Node) []Node {
	var calm, some []Node
	for _, n := range nodes {
		if n.Draining || n.Sessions >= n.Capacity {
			continue
		}
		some = append(some, n)
		if n.Busy < tooBusy {
			calm = append(calm, n)
		}
	}
	if len(calm) > 0 {
		return calm
	}
	return some
}

// utilization returns the used fraction of the node's capacity after adding one session.
func utilization(n Node) float64 { return float64(n.Sessions+1) / float64(n.Capacity) }

func compareUtilization(a, b Node) int {
	switch x, y := utilization(a), utilization(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// weight returns the rendezvous hash of a session and a node.
func weight(session, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node + "\x00" + session)) // never fails
	// The last bytes of the name reach only the low bits of FNV; mix them into all.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// ChooseAll chooses nodes for several sessions, as if they were placed one after another. It returns the sessions for which there is no
// room in unplaced.
func ChooseAll(sessions []string, nodes []Node) (places map[string]string, unplaced []string) {
	nodes, places = slices.Clone(nodes), map[string]string{}
	for _, session := range sessions {
		id, ok := Choose(session, nodes)
		if !ok {
			unplaced = append(unplaced, session)
			continue
		}
		places[session] = id
		nodes[slices.IndexFunc(nodes, func(n Node) bool { return n.ID == id })].Sessions++
	}
	return places, unplaced
}
