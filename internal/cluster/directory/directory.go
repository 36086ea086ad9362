// Package directory tells package peers what package cluster knows: which node has a tab or a session, and which nodes
// there are. Errors get the codes and reasons that clients see. The package starts nothing and owns nothing.
package directory

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/peers"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/server/rpcstatus"
)

// Cluster is what a node knows of its cluster; *cluster.Node implements it.
type Cluster interface {
	TabOwner(ctx context.Context, tab string, latest bool) (cluster.Place, error)
	SessionOwner(ctx context.Context, name string, latest bool) (cluster.Place, error)
	Place(session string) (cluster.Place, error)
	Nodes() []registry.Node
	Changed() <-chan struct{}
	Here() cluster.Place
}

// Of returns the directory of a cluster.
func Of(c Cluster) peers.Directory { return directory{c} }

type directory struct{ cluster Cluster }

// TabOwner implements peers.Directory.
func (d directory) TabOwner(ctx context.Context, tab string, read peers.Read) (peers.Node, error) {
	return answer(d.cluster.TabOwner(ctx, tab, bool(read)))
}

// SessionOwner implements peers.Directory.
func (d directory) SessionOwner(ctx context.Context, session string, read peers.Read) (peers.Node, error) {
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

// answer converts the place of something, or the reason why it has none.
func answer(p cluster.Place, err error) (peers.Node, error) {
	switch {
	case err == nil:
		return peers.Node{ID: p.Node, Incarnation: p.Incarnation, Address: p.Address, Self: p.Local}, nil
	case errors.Is(err, cluster.ErrNone):
		return peers.Node{}, peers.ErrUnknown
	case errors.Is(err, cluster.ErrGone):
		return peers.Node{}, peers.ErrGone
	case errors.Is(err, cluster.ErrFenced):
		return peers.Node{}, rpcstatus.New(codes.Unavailable, "this node was cut off from the cluster, and another node takes the session over: try again in a few seconds, at another node",
			rpcstatus.Info("FENCED", nil))
	case errors.Is(err, cluster.ErrNoRoom):
		return peers.Node{}, rpcstatus.New(codes.ResourceExhausted, "no node of the cluster has room for another session: close one first, or add a node",
			rpcstatus.Info("LIMIT_REACHED", map[string]string{"limit": "cluster_sessions"}))
	case errors.Is(err, context.DeadlineExceeded):
		return peers.Node{}, rpcstatus.New(codes.Unavailable, "another node restores the session: try again in a few seconds", rpcstatus.Info("TAB_RESTORING", nil))
	}
	return peers.Node{}, err
}

// Explain makes an error of a cluster.Node one for clients, as those of the directory are.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	_, explained := answer(cluster.Place{}, err)
	return explained
}
