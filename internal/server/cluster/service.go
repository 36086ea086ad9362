// Package cluster holds the rules of ClusterService, and implements it for a daemon that is not part of a cluster. Package
// internal/cluster/admin implements it for the nodes of a cluster.
package cluster

import (
	"context"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// None implements ClusterService for a daemon that is not a node of a cluster. All its methods fail.
type None struct {
	domtapv1.UnimplementedClusterServiceServer
}

func (None) refuse() error {
	return rpcstatus.New(codes.FailedPrecondition, "this daemon is not part of a cluster: call a daemon that was started with --cluster (docs/cluster.md)",
		rpcstatus.Info("NO_CLUSTER", nil))
}

// GetCluster returns the error NO_CLUSTER.
func (c None) GetCluster(context.Context, *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	return nil, c.refuse()
}

// DrainNode returns the error NO_CLUSTER.
func (c None) DrainNode(context.Context, *domtapv1.DrainNodeRequest) (*domtapv1.DrainNodeResponse, error) {
	return nil, c.refuse()
}

// MoveSession returns the error NO_CLUSTER.
func (c None) MoveSession(context.Context, *domtapv1.MoveSessionRequest) (*domtapv1.MoveSessionResponse, error) {
	return nil, c.refuse()
}
