// Package directory implements peers.Directory on top of package cluster. It reports which node has a tab or a session, and which nodes
// exist. It converts errors to the codes and reasons that clients see. The package starts no goroutines and owns no resources.
package directory

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/peers"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// Cluster provides a node's view of its cluster. *cluster.Node implements it.
type Cluster interface {
	TabOwner(ctx context.Context, tab string, latest bool) (cluster.Place, error)
	SessionOwner(ctx context.Context, name string, latest bool) (cluster.Place, error)
	Place(session string) (cluster.Place, error)
	Nodes() []registry.Node
	Changed() <-chan struct{}
	Here() cluster.Place
}

// New returns a directory backed by c.
func New(c Cluster) peers.Directory { return directory{c} }

type directory struct{ cluster Cluster }

// TabOwner implements peers.Directory.
func (d directory) TabOwner(ctx context.Context, tab string, read peers.Freshness) (peers.Node, error) {
	return answer(d.cluster.TabOwner(ctx, tab, bool(read)))
}

// SessionOwner implements peers.Directory.
func (d directory) SessionOwner(ctx context.Context, session string, read peers.Freshness) (peers.Node, error) {
	return answer(d.cluster.SessionOwner(ctx, session, bool(read)))
}

// Place implements peers.Directory.
func (d directory) Place(_ context.Context, session string) (peers.Node, error) {
	return answer(d.cluster.Place(session))
}

// Nodes implements peers.Directory.
func (d directory) Nodes() []peers.Node {
	here := d.cluster.Here()
	var all []peers.Node
	for _, n := range d.cluster.Nodes() {
		self := n.ID == here.Node && n.Incarnation == here.Incarnation
		all = append(all, peers.Node{ID: n.ID, Incarnation: n.Incarnation, Address: n.Address, Self: self})
	}
	return all
}

// Changed implements peers.Directory.
func (d directory) Changed() <-chan struct{} { return d.cluster.Changed() }

// answer converts a place to a node, or the error of a lookup to the client's error.
func answer(p cluster.Place, err error) (peers.Node, error) {
	switch {
	case err == nil:
		return peers.Node{ID: p.Node, Incarnation: p.Incarnation, Address: p.Address, Self: p.Local}, nil
	case errors.Is(err, cluster.ErrNone):
		return peers.Node{}, peers.ErrUnknown
	case errors.Is(err, cluster.ErrGone):
		return peers.Node{}, peers.ErrGone
	case errors.Is(err, cluster.ErrFenced):
		return peers.Node{}, rpcstatus.New(codes.Unavailable, "this node was cut off from the cluster, and another node takes over the session: try again on another node in a few seconds",
			rpcstatus.Info("FENCED", nil))
	case errors.Is(err, cluster.ErrNoRoom):
		return peers.Node{}, rpcstatus.New(codes.ResourceExhausted, "no node of the cluster has room for another session: close one first, or add a node",
			rpcstatus.Info("LIMIT_REACHED", map[string]string{"limit": "cluster_sessions"}))
	case errors.Is(err, context.DeadlineExceeded):
		return peers.Node{}, rpcstatus.New(codes.Unavailable, "another node restores the session: try again in a few seconds", rpcstatus.Info("TAB_RESTORING", nil))
	}
	return peers.Node{}, err
}

// Explain converts an error of a cluster.Node as the directory converts its own errors for clients.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	_, explained := answer(cluster.Place{}, err)
	return explained
}
