package cluster

import (
	"context"
	"encoding/json"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// Host is what a Node does to the sessions of its process. Its methods are safe for concurrent use.
type Host interface {
	// Restore makes a session that another node had until now. After an error nothing is left of it.
	Restore(ctx context.Context, s Session) error
	// Stop ends a session that is to move, and returns what Restore needs of it, after the last call to it has returned. Calls that
	// come after that have to look for the session again. After an error the session is as before.
	Stop(ctx context.Context, session string) (state []byte, err error)
	// Fence ends a session at once, whatever is under way: another node may have it. It does not wait for a browser.
	Fence(session string)
	// Idle reports whether nobody uses a session.
	Idle(session string) bool
	// Load does not wait.
	Load() registry.Load
}

// States keeps the states of sessions where every node finds them, as *registry.States does. What was saved under a fencing token is not changed
// under a lower one. Its methods are safe for concurrent use.
type States interface {
	Save(ctx context.Context, session string, token uint64, state []byte) error
	// Take returns what was saved last, nil when there is none, and keeps it under the token of the next owner: from then on, those
	// before save nothing more.
	Take(ctx context.Context, session string, token uint64) (state []byte, err error)
	Delete(ctx context.Context, session string, token uint64) error
}

// Session is a session that is restored.
type Session struct {
	Name string
	// Token is the fencing token of its new owner.
	Token    uint64
	Restore  bool
	Settings json.RawMessage
	// Tabs are the session's tabs by id, as they were last registered.
	Tabs map[string]registry.Tab
	// State is what Stop returned, or what was saved last; nil when there is none.
	State []byte
}

// Options say what is known of a new session.
type Options struct {
	// Restore: another node takes the session over when this one dies, and this one stops it when its lease ends.
	Restore bool
	// Settings are for Host.Restore. They are stored as they are: secrets do not belong there.
	Settings json.RawMessage
}

// Place is a node, as a caller needs it.
type Place struct {
	Node, Incarnation string
	// Address is where its gRPC server listens.
	Address string
	// Local: it is this process.
	Local bool
}

// noStates is the States of a Node without one.
type noStates struct{}

func (noStates) Save(context.Context, string, uint64, []byte) error         { return nil }
func (noStates) Delete(context.Context, string, uint64) error               { return nil }
func (noStates) Take(context.Context, string, uint64) (s []byte, err error) { return nil, nil }
