package peers

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// operated implements ClusterService for a node.
type operated struct {
	domtapv1.UnimplementedClusterServiceServer
	n *node
}

func (o operated) GetCluster(context.Context, *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	return &domtapv1.GetClusterResponse{NodeId: o.n.ID}, nil
}

func (o operated) DrainNode(ctx context.Context, r *domtapv1.DrainNodeRequest) (*domtapv1.DrainNodeResponse, error) {
	if _, ok := ctx.Deadline(); !ok {
		return nil, errors.New("the call has no deadline")
	}
	return &domtapv1.DrainNodeResponse{NodeId: o.n.ID, Moved: []*domtapv1.MovedSession{{NodeId: r.GetNodeId()}}}, nil
}

func (o operated) MoveSession(_ context.Context, r *domtapv1.MoveSessionRequest) (*domtapv1.MoveSessionResponse, error) {
	return &domtapv1.MoveSessionResponse{FromNodeId: o.n.ID, NodeId: r.GetNodeId()}, nil
}

// An operator's call about a node reaches that node, and a call about a session reaches the node that has the session. Moving a session
// does not count as use of it, because uses must end before the session moves.
func TestOperationsReachTheirNode(t *testing.T) {
	used := make(chan string, 10)
	c := newCluster(t, 3, options{proxy: Config{Begin: func(tab, session string, _ bool) (func(context.Context), error) {
		used <- tab + session
		return func(context.Context) {}, nil
	}}})
	near := domtapv1.NewClusterServiceClient(c.nodes[0].conn)
	if got, err := near.GetCluster(t.Context(), &domtapv1.GetClusterRequest{}); err != nil || got.GetNodeId() != "n1" {
		t.Errorf("the cluster: %v, %v", got, err)
	}
	for _, node := range []string{"n1", "n2", "n3"} {
		got, err := near.DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: node})
		if err != nil || got.GetNodeId() != node || got.GetMoved()[0].GetNodeId() != node {
			t.Errorf("drain %s: %v, %v", node, got, err)
		}
	}
	_, err := near.DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: "n4"})
	wantCode(t, err, codes.NotFound, "NOT_FOUND")
	_, err = domtapv1.NewClusterServiceClient(c.nodes[0].dial(aliceToken)).DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: "n2"})
	wantCode(t, err, codes.PermissionDenied, "OPERATOR")
	c.open(c.nodes[0].conn, 1, "work")
	for len(used) > 0 {
		<-used
	}
	got, err := near.MoveSession(t.Context(), &domtapv1.MoveSessionRequest{SessionId: "work", NodeId: "n3"})
	if err != nil || got.GetFromNodeId() != "n2" || got.GetNodeId() != "n3" || len(used) > 0 {
		t.Errorf("move: %v, %v, used %d times", got, err, len(used))
	}
	if passed, lost := c.nodes[0].proxy.Counts(); passed < 3 || lost != 0 {
		t.Errorf("%d calls were passed on, and %d lost", passed, lost)
	}
	c.nodes[2].end()
	_, err = near.DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: "n3"})
	wantCode(t, err, codes.NotFound, "NOT_FOUND")
}
