package registry

import (
	"encoding/json"
	"strings"
)

// Node describes one incarnation of a node, which lasts from the time a process joins the cluster until its lease ends.
type Node struct {
	// ID identifies the node and stays the same across restarts. Incarnation is never used twice.
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	// Address is the address of its gRPC server for other nodes.
	Address string `json:"address"`
	Version string `json:"version,omitempty"`
	// Role is RoleServer, RoleClient, or empty if unknown.
	Role string `json:"role,omitempty"`
	// Renewal counts the renewals of the lease, from 1.
	Renewal uint64 `json:"renewal"`
	Load    Load   `json:"load"`
	// Draining reports that the node accepts no new sessions.
	Draining bool `json:"draining,omitempty"`
	// Drained reports that an operator drains the node, so it keeps draining after a restart.
	Drained bool `json:"drained,omitempty"`
	// Gone reports that the lease has ended for good. The writer was the node itself, or waited until the node had stopped.
	Gone bool `json:"gone,omitempty"`
}

// Roles of a node.
const (
	// RoleServer marks a node that runs a NATS server.
	RoleServer = "server"
	// RoleClient marks a node that is a client of NATS servers.
	RoleClient = "client"
)

// Load is the load of a node.
type Load struct {
	// Sessions is the number of sessions on the node, MaxSessions the number that it accepts.
	Sessions    int `json:"sessions"`
	MaxSessions int `json:"max_sessions"`
	Tabs        int `json:"tabs"`
	// Busy is the recently used fraction of the machine's processor time, 0 to 1.
	Busy float64 `json:"busy"`
}

// Phase is the phase of a session's life on its node.
type Phase string

// Phases of a session.
const (
	// Ready means that the session can be used.
	Ready Phase = "ready"
	// Creating means that the node is creating the session for the first time. No other node has to restore it if that fails.
	Creating Phase = "making"
	// Restoring means that the session was assigned to the node, which has not restored it yet.
	Restoring Phase = "restoring"
	// Moving means that the node is about to hand the session over to another node.
	Moving Phase = "moving"
)

// Session describes which node has a session.
type Session struct {
	// Node and Incarnation identify the owner.
	Node        string `json:"node"`
	Incarnation string `json:"incarnation"`
	// Fence is the fencing token if it differs from the revision of this value; see Token.
	Fence uint64 `json:"fence,omitempty"`
	Phase Phase  `json:"phase"`
	// Restore reports whether another node takes the session over when its node is gone.
	Restore bool `json:"restore,omitempty"`
	// Settings are the session's settings. The registry does not interpret them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Token returns the session's fencing token: the revision with which its owner became the owner. It increases with each owner.
func Token(e Entry[Session]) uint64 {
	if e.Value.Fence != 0 {
		return e.Value.Fence
	}
	return e.Revision
}

// Tab describes the session of a tab and what another node needs to reopen the tab.
type Tab struct {
	Session string `json:"session"`
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Status  string `json:"status,omitempty"`
	Epoch   string `json:"epoch,omitempty"`
	// Restore reports whether the node that takes the session over reopens the tab.
	Restore bool `json:"restore,omitempty"`
	// RefFloor is greater than all refs of the tab so far.
	RefFloor uint64 `json:"ref_floor,omitempty"`
}

// NodeKey returns the key of an incarnation of a node.
func NodeKey(id, incarnation string) string { return id + "/" + incarnation }

// Keys may be any nonempty text. In subjects, letters, digits, - and _ stay as they are; every other byte is encoded as =XX.
const plain = "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// encodeKey encodes a key as the end of a subject.
func encodeKey(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("=" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// decodeKey reverses encodeKey. ok is false if encodeKey cannot have produced the text.
func decodeKey(text string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '=' {
			b.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", false
		}
		high, low := strings.IndexByte("0123456789ABCDEF", text[i+1]), strings.IndexByte("0123456789ABCDEF", text[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	key = b.String()
	return key, encodeKey(key) == text
}
