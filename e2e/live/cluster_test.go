package live

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// shopCluster answers like a node of a cluster that changes with each step.
type shopCluster struct {
	domtapv1.UnimplementedClusterServiceServer
	step atomic.Int32
}

func (c *shopCluster) GetCluster(context.Context, *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	now := &domtapv1.GetClusterResponse{
		Cluster: "shop", NodeId: "n1",
		Nodes: []*domtapv1.ClusterNode{
			{NodeId: "n1", State: domtapv1.NodeState_NODE_STATE_SERVING, Sessions: 2, MaxSessions: 50, Tabs: 7, Busy: 0.13},
			{NodeId: "n2", State: domtapv1.NodeState_NODE_STATE_DRAINING, Sessions: 1, MaxSessions: 50, Tabs: 1},
			{NodeId: "n3", State: domtapv1.NodeState_NODE_STATE_GONE},
		},
		Sessions: []*domtapv1.ClusterSession{
			{SessionId: "alice.work", NodeId: "n1", State: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY, Tabs: 3},
			{SessionId: "<b>bold</b>", NodeId: "n1", State: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_RESTORING, Tabs: 4},
			{SessionId: "default", NodeId: "n2", State: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY, Tabs: 1},
		},
	}
	switch c.step.Load() {
	case 1:
		now.Nodes, now.Sessions = now.Nodes[:1], now.Sessions[:1]
	case 2:
		return nil, status.Error(codes.PermissionDenied, "no")
	}
	return now, nil
}

func TestNodesOfACluster(t *testing.T) {
	t.Parallel()
	testenv.NeedBrowser(t)
	c := new(shopCluster)
	st := newStage(t, func(cfg *server.Config) { cfg.Node, cfg.Cluster = "n1", c })
	const nodes = `document.getElementById("cluster").hidden ? "" : document.getElementById("nodes").innerText.replace(/\s+/g, " ")`
	shows := func(want string) {
		t.Helper()
		testenv.Await(t, fmt.Sprintf("the page shows %q as nodes", want), func() bool { return in[string](st, st.live, nodes) == want })
	}
	shows("n1 answers serving 2 of 50 sessions · 7 tabs · 13 % busy alice.work · 3 tabs <b>bold</b> · 4 tabs · coming back " +
		"n2 draining 1 of 50 sessions · 1 tab · 0 % busy default · 1 tab n3 gone")
	c.step.Store(1)
	shows("n1 answers serving 2 of 50 sessions · 7 tabs · 13 % busy alice.work · 3 tabs")
	c.step.Store(2)
	shows("")
}

func TestADaemonAloneShowsNoNodes(t *testing.T) {
	t.Parallel()
	testenv.NeedBrowser(t)
	st := newStage(t, nil)
	st.shows("Pay now")
	if in[string](st, st.live, `String(document.getElementById("cluster").hidden)`) != "true" {
		t.Error("there are nodes")
	}
}
