package cluster

import (
	"context"
	"encoding/json"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// Host performs a Node's operations on the sessions of this process. Its methods are safe for concurrent use.
type Host interface {
	// Restore creates a session that another node owned. After an error nothing of the session remains.
	Restore(ctx context.Context, s Session) error
	// Stop waits for the running calls of a session that is about to move, ends the session, and returns the state that Restore needs.
	// Later calls have to look up the session again. After an error the session is unchanged.
	Stop(ctx context.Context, session string) (state []byte, err error)
	// Fence ends a session immediately, with its running calls, because another node may own it. It does not wait for the browser.
	Fence(session string)
	// Idle reports whether a session is unused.
	Idle(session string) bool
	// Load returns the load of this process. It does not block.
	Load() registry.Load
}

// States stores the states of sessions where every node can read them; *registry.States implements it. A state saved under one fencing
// token is not changed under a lower one. Its methods are safe for concurrent use.
type States interface {
	Save(ctx context.Context, session string, token uint64, state []byte) error
	// Take returns the last saved state, or nil if there is none, and stores it under the token of the next owner. From then on, earlier
	// owners can no longer save.
	Take(ctx context.Context, session string, token uint64) (state []byte, err error)
	Delete(ctx context.Context, session string, token uint64) error
}

// Session describes a session to restore.
type Session struct {
	Name string
	// Token is the fencing token of the new owner.
	Token    uint64
	Restore  bool
	Settings json.RawMessage
	// Tabs holds the session's tabs by ID, as last registered.
	Tabs map[string]registry.Tab
	// State is the result of Stop or the last saved state. It is nil if there is none.
	State []byte
}

// Options configure a new session.
type Options struct {
	// Restore lets another node take the session over when this one dies. This node then stops the session when its lease expires.
	Restore bool
	// Settings are passed to Host.Restore. They are stored as given and must contain no secrets.
	Settings json.RawMessage
}

// Place identifies a node to callers.
type Place struct {
	Node, Incarnation string
	// Address is the address of the node's gRPC server.
	Address string
	// Local reports whether the node is this process.
	Local bool
}

// noStates implements States for a Node without a store.
type noStates struct{}

func (noStates) Save(context.Context, string, uint64, []byte) error         { return nil }
func (noStates) Delete(context.Context, string, uint64) error               { return nil }
func (noStates) Take(context.Context, string, uint64) (s []byte, err error) { return nil, nil }
