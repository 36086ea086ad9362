// Package admin serves ClusterService on a node of a cluster. Operators use it to inspect the cluster, drain nodes and move sessions.
//
// Package peers routes each call to the node that must execute it. Requests have been validated, and their callers authorized as the
// operator. The package starts no goroutines and owns no resources.
package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/directory"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// Node provides a Service with the cluster's state and operations. *cluster.Node implements it.
type Node interface {
	Operations() *cluster.Operations
	SessionOwner(ctx context.Context, name string, latest bool) (cluster.Place, error)
	Here() cluster.Place
}

// Service implements ClusterService. Its methods are safe for concurrent use.
type Service struct {
	domtapv1.UnimplementedClusterServiceServer
	name string
	node Node
}

// New returns the service of a node in the cluster with the given name.
func New(name string, node Node) *Service { return &Service{name: name, node: node} }

// GetCluster returns the cluster's state as this node knows it.
func (s *Service) GetCluster(context.Context, *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	now := s.node.Operations().Status()
	answer := &domtapv1.GetClusterResponse{Cluster: s.name, NodeId: s.node.Here().Node, Leader: now.Leader, Age: durationpb.New(now.Age)}
	for _, n := range now.Nodes {
		answer.Nodes = append(answer.Nodes, &domtapv1.ClusterNode{
			NodeId: n.ID, Incarnation: n.Incarnation, Address: n.Address, Version: n.Version, Role: roles[n.Role], State: stateOf(n),
			Renewed: durationpb.New(n.Renewed), Sessions: int32(n.Load.Sessions), MaxSessions: int32(n.Load.MaxSessions), Tabs: int32(n.Load.Tabs), Busy: n.Load.Busy,
		})
	}
	for _, one := range now.Sessions {
		answer.Sessions = append(answer.Sessions, &domtapv1.ClusterSession{
			SessionId: one.Name, NodeId: one.Node, State: phases[one.Phase], Restore: one.Restore, Tabs: int32(one.Tabs),
		})
	}
	return answer, nil
}

var roles = map[string]domtapv1.NodeRole{
	registry.RoleServer: domtapv1.NodeRole_NODE_ROLE_SERVER,
	registry.RoleClient: domtapv1.NodeRole_NODE_ROLE_CLIENT,
}

var phases = map[registry.Phase]domtapv1.ClusterSessionState{
	registry.Ready:     domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY,
	registry.Creating:  domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_CREATING,
	registry.Restoring: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_RESTORING,
	registry.Moving:    domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_MOVING,
}

var states = map[string]domtapv1.NodeState{
	"serving":  domtapv1.NodeState_NODE_STATE_SERVING,
	"draining": domtapv1.NodeState_NODE_STATE_DRAINING,
	"silent":   domtapv1.NodeState_NODE_STATE_SILENT,
	"gone":     domtapv1.NodeState_NODE_STATE_GONE,
}

func stateOf(n cluster.NodeStatus) domtapv1.NodeState { return states[n.State()] }

// DrainNode drains this node.
func (s *Service) DrainNode(ctx context.Context, r *domtapv1.DrainNodeRequest) (*domtapv1.DrainNodeResponse, error) {
	here := s.node.Here().Node
	if r.GetNodeId() != here {
		return nil, rpcstatus.UnknownNode(r.GetNodeId())
	}
	if r.GetUndo() {
		s.node.Operations().Undrain()
		return &domtapv1.DrainNodeResponse{NodeId: here}, nil
	}
	bounded, cancel := deadline.Reserve(ctx)
	defer cancel()
	drained, err := s.node.Operations().Drain(bounded)
	switch {
	case errors.Is(err, cluster.ErrUndrained):
		return nil, rpcstatus.New(codes.Aborted, "node "+here+" no longer drains, because another call ended the draining: drain it again if needed", rpcstatus.Info("NODE_SERVING", ofNode(here)))
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	return drainAnswer(here, drained), nil
}

func drainAnswer(node string, d cluster.Drained) *domtapv1.DrainNodeResponse {
	answer := &domtapv1.DrainNodeResponse{NodeId: node}
	for _, name := range slices.Sorted(maps.Keys(d.Moved)) {
		answer.Moved = append(answer.Moved, &domtapv1.MovedSession{SessionId: name, NodeId: d.Moved[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Left)) {
		why := d.Left[name]
		answer.Left = append(answer.Left, &domtapv1.LeftSession{SessionId: name, Reason: leftReason(why), Message: why.Error()})
	}
	return answer
}

func leftReason(why error) domtapv1.LeftReason {
	switch {
	case errors.Is(why, cluster.ErrBusy):
		return domtapv1.LeftReason_LEFT_REASON_IN_USE
	case errors.Is(why, cluster.ErrNoRoom):
		return domtapv1.LeftReason_LEFT_REASON_NO_ROOM
	case errors.Is(why, cluster.ErrMoving), errors.Is(why, context.DeadlineExceeded):
		return domtapv1.LeftReason_LEFT_REASON_MOVING
	}
	return domtapv1.LeftReason_LEFT_REASON_UNSPECIFIED
}

// MoveSession moves a session of this node.
func (s *Service) MoveSession(ctx context.Context, r *domtapv1.MoveSessionRequest) (*domtapv1.MoveSessionResponse, error) {
	session, target := r.GetSessionId(), r.GetNodeId()
	from, err := s.owner(ctx, session)
	if err != nil {
		return nil, err
	}
	switch {
	case from.Node == target:
		return &domtapv1.MoveSessionResponse{SessionId: session, FromNodeId: target, NodeId: target}, nil
	case !from.Local:
		return nil, movingError(session)
	}
	bounded, cancel := deadline.Reserve(ctx)
	defer cancel()
	if err := s.node.Operations().Move(bounded, session, target); err != nil {
		return nil, moveError(err, session, from.Node, target)
	}
	to, err := s.owner(ctx, session)
	if err != nil {
		return nil, err
	}
	return &domtapv1.MoveSessionResponse{SessionId: session, FromNodeId: from.Node, NodeId: to.Node}, nil
}

// owner finds the node of a session. It waits while the session moves or is restored.
func (s *Service) owner(ctx context.Context, session string) (cluster.Place, error) {
	at, err := s.node.SessionOwner(ctx, session, false)
	switch {
	case errors.Is(err, cluster.ErrNone), errors.Is(err, cluster.ErrGone):
		return at, rpcstatus.New(codes.NotFound, fmt.Sprintf("unknown session %q: GetCluster lists the sessions", session),
			rpcstatus.Info("NOT_FOUND", map[string]string{"resource": "session"}))
	case err != nil && ctx.Err() != nil:
		return at, ctx.Err()
	}
	return at, directory.Explain(err)
}

// moveError returns the client's error for a session that was not moved.
func moveError(err error, session, from, to string) error {
	switch {
	case errors.Is(err, cluster.ErrNoNode):
		return rpcstatus.UnknownNode(to)
	case errors.Is(err, cluster.ErrDraining):
		return rpcstatus.New(codes.FailedPrecondition, "node "+to+" is draining and takes no sessions: name another node, or end the draining", rpcstatus.Info("NODE_DRAINING", ofNode(to)))
	case errors.Is(err, cluster.ErrNoRoom):
		return rpcstatus.New(codes.ResourceExhausted, "node "+to+" has no room for another session: name another node, or close sessions there",
			rpcstatus.Info("LIMIT_REACHED", map[string]string{"limit": "node_sessions", "node": to}))
	case errors.Is(err, cluster.ErrSilent):
		return rpcstatus.New(codes.Unavailable, "node "+to+" does not answer: name another node, or try again in a few seconds", rpcstatus.Info("NODE_UNAVAILABLE", ofNode(to)))
	case errors.Is(err, cluster.ErrElsewhere):
		return movingError(session)
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, cluster.ErrFenced):
		return directory.Explain(err)
	case errors.Is(err, context.DeadlineExceeded):
		return rpcstatus.New(codes.DeadlineExceeded, fmt.Sprintf("a call to session %s did not end in time, and the session stays on node %s: try again with a longer deadline", session, from))
	}
	return rpcstatus.New(codes.Unavailable, fmt.Sprintf("session %s stays on node %s: %v: try again", session, from, err), rpcstatus.Info("NOT_MOVED", ofNode(from)))
}

func movingError(session string) error {
	return rpcstatus.New(codes.Unavailable, "session "+session+" is moving to another node: try again in a moment", rpcstatus.Info("TAB_RESTORING", nil))
}

func ofNode(id string) map[string]string { return map[string]string{"node": id} }
