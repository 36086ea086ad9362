// Package placement decides which node gets a session. It is plain functions: same input, same output.
//
// What the package guarantees:
//
//   - The node is one of the emptiest, measured by the fraction of its capacity: sessions that are placed one after another are
//     within a twentieth of even on nodes with the same capacity, or within one session.
//   - Among nodes that are about equally full, the session's name decides. So nodes with the same knowledge choose the same one for a
//     session, and different ones for different sessions, also when they choose at the same time.
//   - A node that drains, or is full, gets no session. One that is busy gets some only while all others are busy, too.
package placement

import (
	"hash/fnv"
	"slices"
)

// Node is what is known of a node.
type Node struct {
	ID string
	// Sessions is how many sessions it has, Capacity how many it takes.
	Sessions, Capacity int
	// Busy is the fraction of its processor time that was used lately, 0 to 1.
	Busy     float64
	Draining bool
}

// tooBusy is the fraction of processor time from which a node is busy.
const tooBusy = 0.9

// even is how much fuller than the emptiest node one may become, as a factor.
const even = 1.05

// Choose chooses the node for a session; ok is false when none has room.
func Choose(session string, nodes []Node) (id string, ok bool) {
	nodes = able(nodes)
	if len(nodes) == 0 {
		return "", false
	}
	least := slices.MinFunc(nodes, fuller)
	limit := fill(least) * even
	var chosen Node
	var best uint64
	for _, n := range nodes {
		if fill(n) > limit {
			continue
		}
		if w := weight(session, n.ID); !ok || w > best || w == best && n.ID < chosen.ID {
			chosen, best, ok = n, w, true
		}
	}
	return chosen.ID, ok
}

// able leaves out the nodes that get no session.
func able(nodes []Node) []Node {
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

// fill is how full a node would be with one more session.
func fill(n Node) float64 { return float64(n.Sessions+1) / float64(n.Capacity) }

func fuller(a, b Node) int {
	switch x, y := fill(a), fill(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// weight is a number that depends on nothing but a session and a node (rendezvous hashing).
func weight(session, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node + "\x00" + session)) // it cannot fail
	// The last bytes of the name reach only the low bits of FNV; mix them into all.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// Spread chooses nodes for several sessions, as if they came one after another. Those that find no room are left.
func Spread(sessions []string, nodes []Node) (places map[string]string, left []string) {
	nodes, places = slices.Clone(nodes), map[string]string{}
	for _, session := range sessions {
		id, ok := Choose(session, nodes)
		if !ok {
			left = append(left, session)
			continue
		}
		places[session] = id
		nodes[slices.IndexFunc(nodes, func(n Node) bool { return n.ID == id })].Sessions++
	}
	return places, left
}
