package registry

import (
	"encoding/json"
	"strings"
)

// Node is one incarnation of a node: the time from when a process joins the cluster until its lease ends.
type Node struct {
	// ID names the node, and stays over restarts; Incarnation never comes again.
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	// Address is where its gRPC server listens for the other nodes.
	Address string `json:"address"`
	Version string `json:"version,omitempty"`
	// Role is RoleServer or RoleClient; empty: unknown.
	Role string `json:"role,omitempty"`
	// Renewal counts the renewals of the lease, from 1.
	Renewal uint64 `json:"renewal"`
	Load    Load   `json:"load"`
	// Draining: it gets no new sessions.
	Draining bool `json:"draining,omitempty"`
	// Drained: an operator drains it, so that it drains also when it has started again.
	Drained bool `json:"drained,omitempty"`
	// Gone: the lease has ended, for good. Whoever wrote this waited until the node had stopped, or was the node.
	Gone bool `json:"gone,omitempty"`
}

// The roles of a node.
const (
	// RoleServer: the node runs a NATS server.
	RoleServer = "server"
	// RoleClient: the node is a client of NATS servers.
	RoleClient = "client"
)

// Load is how much a node has to do.
type Load struct {
	// Sessions is how many sessions the node has, MaxSessions how many it takes.
	Sessions    int `json:"sessions"`
	MaxSessions int `json:"max_sessions"`
	Tabs        int `json:"tabs"`
	// Busy is the fraction of the machine's processor time that was used lately, 0 to 1.
	Busy float64 `json:"busy"`
}

// Phase is how far a session is on its node.
type Phase string

// The phases.
const (
	// Ready: the session can be used.
	Ready Phase = "ready"
	// Making: its node makes it for the first time. Until then, nobody else would miss it.
	Making Phase = "making"
	// Restoring: the session was given to its node, which has not made it yet.
	Restoring Phase = "restoring"
	// Moving: its node is about to give it to another one.
	Moving Phase = "moving"
)

// Session says where a session lives.
type Session struct {
	// Node and Incarnation are its owner.
	Node        string `json:"node"`
	Incarnation string `json:"incarnation"`
	// Fence is the fencing token, if it is not the revision of this value: see Token.
	Fence uint64 `json:"fence,omitempty"`
	Phase Phase  `json:"phase"`
	// Restore: another node takes the session over when its node is gone.
	Restore bool `json:"restore,omitempty"`
	// Settings are what the session was made with; the registry does not read them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Token is the session's fencing token: the revision with which its owner became the owner. It grows with each owner.
func Token(e Entry[Session]) uint64 {
	if e.Value.Fence != 0 {
		return e.Value.Fence
	}
	return e.Revision
}

// Tab says in which session a tab is, and what another node needs to open it again.
type Tab struct {
	Session string `json:"session"`
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Status  string `json:"status,omitempty"`
	Epoch   string `json:"epoch,omitempty"`
	// Restore: the tab is opened again on the node that takes the session over.
	Restore bool `json:"restore,omitempty"`
	// RefFloor is a number that no ref of the tab has reached yet.
	RefFloor uint64 `json:"ref_floor,omitempty"`
}

// NodeKey is the key of an incarnation of a node.
func NodeKey(id, incarnation string) string { return id + "/" + incarnation }

// Keys may be any text but the empty one. In subjects, letters, digits, - and _ stand for themselves, and every other byte is =XX.
const plain = "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// encodeKey makes the end of a subject from a key.
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

// decodeKey is the reverse of encodeKey; ok is false for what encodeKey does not make.
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
