//go:build cluster

package cluster

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// domtap runs a command at a node, and returns its output and its exit code.
func (n *node) domtap(args ...string) (out string, code int) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), n.cmd.Path, args...)
	cmd.Env = append(os.Environ(), "DOMTAP_STATE_DIR="+n.state, "DOMTAP_SOCKET="+filepath.Join(n.state, "s"))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		n.t.Fatal(err)
	}
	n.t.Logf("%s: domtap %s\n%s%s", n.id, strings.Join(args, " "), text, &problems)
	return string(text), cmd.ProcessState.ExitCode()
}

// status is what a node says of the cluster.
func (n *node) status() *domtapv1.GetClusterResponse {
	n.t.Helper()
	text, code := n.domtap("cluster", "status", "--json")
	now := new(domtapv1.GetClusterResponse)
	if err := protojson.Unmarshal([]byte(text), now); err != nil || code != 0 {
		n.t.Fatalf("exit code %d, %v", code, err)
	}
	return now
}

// nodeOf is the node of a session, and its state.
func nodeOf(now *domtapv1.GetClusterResponse, session string) (string, domtapv1.ClusterSessionState) {
	for _, s := range now.GetSessions() {
		if s.GetSessionId() == session {
			return s.GetNodeId(), s.GetState()
		}
	}
	return "", 0
}

// An operator sees the cluster at any node, moves a session, and empties a node, of which health tells others.
func TestOperatingACluster(t *testing.T) {
	st := newStage(t)
	tab := st.create(st.nodes[0], "kept", true)
	home := st.home(st.nodes[0], "kept")
	rest := st.others(home)
	for _, n := range st.nodes {
		var now *domtapv1.GetClusterResponse
		testenv.Await(t, n.id+" knows the session", func() bool {
			now = n.status()
			at, state := nodeOf(now, "kept")
			return at == home.id && state == domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY
		})
		if now.GetCluster() != "shop" || now.GetNodeId() != n.id || len(now.GetNodes()) != 3 || !strings.HasPrefix(now.GetLeader(), "n") {
			t.Errorf("at %s: %v", n.id, now)
		}
		for _, one := range now.GetNodes() {
			if one.GetState() != domtapv1.NodeState_NODE_STATE_SERVING || one.GetRole() != domtapv1.NodeRole_NODE_ROLE_SERVER || one.GetMaxSessions() != 20 {
				t.Errorf("at %s, a node is %v", n.id, one)
			}
		}
	}
	if out, code := rest[0].domtap("cluster", "move", "kept", rest[1].id); code != 0 || out != "moved kept from node "+home.id+" to node "+rest[1].id+"\n" {
		t.Errorf("move: exit code %d, %s", code, out)
	}
	got, err := home.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: tab})
	if err != nil || !has(got, "Hello kept") {
		t.Errorf("the tab at its new node: %v, %v", testenv.Texts(got), err)
	}
	leaving := rest[1]
	if out, code := home.domtap("cluster", "drain", leaving.id, "--timeout", "1m"); code != 0 || !strings.HasSuffix(out, "node "+leaving.id+" has no sessions and can be stopped\n") {
		t.Errorf("drain: exit code %d, %s", code, out)
	}
	testenv.Await(t, "health says that it drains", func() bool { return !leaving.serving() })
	now := leaving.status()
	i := slices.IndexFunc(now.GetNodes(), func(n *domtapv1.ClusterNode) bool { return n.GetNodeId() == leaving.id })
	if at, _ := nodeOf(now, "kept"); at == leaving.id || now.GetNodes()[i].GetState() != domtapv1.NodeState_NODE_STATE_DRAINING {
		t.Errorf("it drains: %v", now)
	}
	if _, code := rest[0].domtap("cluster", "move", "kept", leaving.id); code != 4 {
		t.Errorf("move to a node that drains: exit code %d", code)
	}
	if _, code := home.domtap("cluster", "drain", leaving.id, "--undo"); code != 0 {
		t.Errorf("undo: exit code %d", code)
	}
	leaving.ready()
	if got, err = home.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: tab}); err != nil || !has(got, "Hello kept") {
		t.Errorf("the tab in the end: %v, %v", testenv.Texts(got), err)
	}
}
