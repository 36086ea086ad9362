package peers

import (
	"context"
	"errors"
)

// Node is a process of a cluster.
type Node struct {
	// ID is the name of the node, which is its own in the cluster.
	ID string
	// Incarnation tells the process from earlier ones of the same node.
	Incarnation string
	// Address is the host:port of its Server.
	Address string
	// Self says that it is this process.
	Self bool
}

// Process names the process among all that ever were part of the cluster.
func (n Node) Process() string { return n.ID + "." + n.Incarnation }

// The errors of a Directory that are answers.
var (
	// ErrUnknown is the error for a tab or a session that no node is known to have.
	ErrUnknown = errors.New("no node is known to have it")
	// ErrGone is the error for a tab or a session whose node is gone, and that no other node takes over. A session of
	// the same name can be made on another node.
	ErrGone = errors.New("the node that had it is gone")
)

// Read says how recent an answer of a Directory must be.
type Read bool

// How recent an answer must be.
const (
	// Cached is what is known on this node, without asking another.
	Cached Read = false
	// Latest is what the cluster has agreed on when the question is asked.
	Latest Read = true
)

// Directory knows the nodes of a cluster, and what each has. Its methods are safe for concurrent use. What this node
// itself has must be known at once, also when the answer may be Cached. An error with a gRPC status goes to the client
// as it is, such as that of a session which is being restored; every other error but ErrUnknown and ErrGone means that
// there is no answer at the moment.
type Directory interface {
	// TabOwner returns the node that has a tab.
	TabOwner(ctx context.Context, tab string, read Read) (Node, error)
	// SessionOwner returns the node that has a session, by the daemon's name for it ("alice.work" for the session
	// "work" of the client alice).
	SessionOwner(ctx context.Context, session string, read Read) (Node, error)
	// Place returns the node for a session that no node has, and that is made next, or for a temporary one, whose
	// name is empty. Nodes that ask for the same session at once may get different answers: then only one of them can
	// make the session, and the others fail with ALREADY_EXISTS.
	Place(ctx context.Context, session string) (Node, error)
	// Nodes returns the nodes that are part of the cluster, this one included, in a stable order.
	Nodes() []Node
	// Changed returns a channel that is closed when Nodes returns something else than now.
	Changed() <-chan struct{}
}
