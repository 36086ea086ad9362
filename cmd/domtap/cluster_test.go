package main

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// shopCluster is the state of a busy cluster, as a node knows it.
var shopCluster = &domtapv1.GetClusterResponse{
	Cluster: "shop", NodeId: "n1", Leader: "n2", Age: durationpb.New(400 * time.Millisecond),
	Nodes: []*domtapv1.ClusterNode{
		{
			NodeId: "n1", Address: "10.0.0.1:7412", Version: "v0.9.0", Role: domtapv1.NodeRole_NODE_ROLE_SERVER, State: domtapv1.NodeState_NODE_STATE_SERVING,
			Renewed: durationpb.New(1200 * time.Millisecond), Sessions: 2, MaxSessions: 50, Tabs: 7, Busy: 0.125,
		},
		{NodeId: "n2", Address: "10.0.0.2:7412", Version: "v0.9.0", Role: domtapv1.NodeRole_NODE_ROLE_CLIENT, State: domtapv1.NodeState_NODE_STATE_DRAINING, MaxSessions: 50},
		{NodeId: "n3", Address: "10.0.0.3:7412", State: domtapv1.NodeState_NODE_STATE_GONE, Renewed: durationpb.New(20 * time.Minute)},
	},
	Sessions: []*domtapv1.ClusterSession{
		{SessionId: "alice.work", NodeId: "n1", State: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY, Restore: true, Tabs: 3},
		{SessionId: "default", NodeId: "n1", State: domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_RESTORING, Tabs: 4},
	},
}

func TestClusterStatusIsTwoTables(t *testing.T) {
	got := answering(t, shopCluster).at().run(t, "cluster", "status")
	want := `cluster shop, as seen by node n1 400ms ago; leader of the registry: n2

NODE  STATE     SESSIONS  TABS  BUSY  RENEWED  ROLE    VERSION  ADDRESS
n1    serving       2/50     7   12%     1.2s  server  v0.9.0   10.0.0.1:7412
n2    draining      0/50     0    0%       0s  client  v0.9.0   10.0.0.2:7412
n3    gone           0/0     0    0%    20m0s  -                10.0.0.3:7412

SESSION     NODE  STATE      TABS  RESTORE
alice.work  n1    ready      3     yes
default     n1    restoring  4     no
`
	if got.out != want {
		t.Errorf("got\n%s\nwant\n%s", got.out, want)
	}
}

func TestDrainPrintsWhatMovedAndWhatIsLeft(t *testing.T) {
	moved := []*domtapv1.MovedSession{{SessionId: "work", NodeId: "n3"}}
	left := []*domtapv1.LeftSession{{SessionId: "used", Reason: domtapv1.LeftReason_LEFT_REASON_IN_USE, Message: "a call or a stream uses the session"}}
	for _, c := range []struct {
		answer *domtapv1.DrainNodeResponse
		args   []string
		out    string
		code   int
	}{
		{&domtapv1.DrainNodeResponse{NodeId: "n2", Moved: moved}, nil, "moved work to n3\nnode n2 has no sessions and can be stopped\n", exit.OK},
		{&domtapv1.DrainNodeResponse{NodeId: "n2", Moved: moved, Left: left}, nil, "moved work to n3\nleft used: a call or a stream uses the session\n", exit.Timeout},
		{&domtapv1.DrainNodeResponse{NodeId: "n2"}, []string{"--undo"}, "node n2 accepts sessions again\n", exit.OK},
	} {
		got := answering(t, c.answer).at().run(t, append([]string{"cluster", "drain", "n2"}, c.args...)...)
		if got.out != c.out || got.code != c.code {
			t.Errorf("%v: exit code %d and\n%s\nwant %d and\n%s", c.answer, got.code, got.out, c.code, c.out)
		}
	}
}

func TestMoveSaysWhereTheSessionIs(t *testing.T) {
	for _, c := range []struct {
		answer *domtapv1.MoveSessionResponse
		out    string
	}{
		{&domtapv1.MoveSessionResponse{SessionId: "work", FromNodeId: "n1", NodeId: "n3"}, "moved work from node n1 to node n3\n"},
		{&domtapv1.MoveSessionResponse{SessionId: "work", FromNodeId: "n3", NodeId: "n3"}, "work is already on node n3\n"},
	} {
		if got := answering(t, c.answer).at().run(t, "cluster", "move", "work", "n3"); got.out != c.out {
			t.Errorf("got %q, want %q", got.out, c.out)
		}
	}
}

func TestCompletionOfTheCluster(t *testing.T) {
	daemon := answering(t, shopCluster)
	for args, want := range map[string]string{
		"drain ":            "n1\t10.0.0.1:7412\nn2\t10.0.0.2:7412\n:4\n",
		"drain n1 ":         ":4\n",
		"move a":            "alice.work\tn1\n:4\n",
		"move alice.work n": "n1\t10.0.0.1:7412\nn2\t10.0.0.2:7412\n:4\n",
		"move work n1 ":     ":4\n",
	} {
		if got := daemon.at().run(t, append([]string{"__complete", "cluster"}, strings.Split(args, " ")...)...); got.out != want {
			t.Errorf("%q completes to %q, want %q", args, got.out, want)
		}
	}
}
