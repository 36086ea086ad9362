package peers

import (
	"context"
	"errors"
)

// Node is a process of a cluster.
type Node struct {
	// ID is the name of the node. It is unique in the cluster.
	ID string
	// Incarnation distinguishes the process from earlier processes of the same node.
	Incarnation string
	// Address is the host:port of its Server.
	Address string
	// Self reports whether the node is this process.
	Self bool
}

// Process returns a name that is unique among all processes that ever were part of the cluster.
func (n Node) Process() string { return n.ID + "." + n.Incarnation }

// Errors by which a Directory reports a definite answer.
var (
	// ErrUnknown means that no node is known to have the tab or session.
	ErrUnknown = errors.New("no node is known to have it")
	// ErrGone means that the node of the tab or session is gone, and that no other node takes it over. A session of the same name can be
	// created on another node.
	ErrGone = errors.New("the node that had it is gone")
)

// Freshness selects how recent an answer of a Directory must be.
type Freshness bool

// Values of Freshness.
const (
	// Cached returns what this node knows, without a request to another node.
	Cached Freshness = false
	// Latest returns the state that the cluster has agreed on at the time of the call.
	Latest Freshness = true
)

// Directory lists the nodes of a cluster and finds the node of a tab or session. Its methods are safe for concurrent use. Even a Cached
// answer must include the current tabs and sessions of this node. An error with a gRPC status, for example for a session that is being
// restored, is returned to the client unchanged. Any other error except ErrUnknown and ErrGone means that no answer is available at the
// moment.
type Directory interface {
	// TabOwner returns the node that has a tab.
	TabOwner(ctx context.Context, tab string, read Freshness) (Node, error)
	// SessionOwner returns the node that has a session, by the daemon's name for it ("alice.work" for the session
	// "work" of the client alice).
	SessionOwner(ctx context.Context, session string, read Freshness) (Node, error)
	// Place returns the node on which to create a session that no node has. An empty name stands for a temporary session. Nodes that call
	// Place concurrently for the same session may get different answers. Then only one of them can create the session, and the others fail
	// with ALREADY_EXISTS.
	Place(ctx context.Context, session string) (Node, error)
	// Nodes returns the nodes of the cluster, including this one, in a stable order.
	Nodes() []Node
	// Changed returns a channel that is closed when the result of Nodes changes.
	Changed() <-chan struct{}
}
