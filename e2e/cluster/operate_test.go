//go:build cluster

package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protojson"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// domtap runs a command at a node and returns its output and exit code.
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

// status returns the state of the cluster according to a node.
func (n *node) status() *domtapv1.GetClusterResponse {
	n.t.Helper()
	text, code := n.domtap("cluster", "status", "--json")
	now := new(domtapv1.GetClusterResponse)
	if err := protojson.Unmarshal([]byte(text), now); err != nil || code != 0 {
		n.t.Fatalf("exit code %d, %v", code, err)
	}
	return now
}

// nodeOf returns the node and the state of a session.
func nodeOf(now *domtapv1.GetClusterResponse, session string) (string, domtapv1.ClusterSessionState) {
	for _, s := range now.GetSessions() {
		if s.GetSessionId() == session {
			return s.GetNodeId(), s.GetState()
		}
	}
	return "", 0
}

// metrics returns a node's metrics of the cluster. The node must have been started with DOMTAP_METRICS.
func (n *node) metrics() map[string]float64 {
	n.t.Helper()
	n.mu.Lock()
	_, address, found := strings.Cut(n.log.String(), `msg="serving metrics" address=`)
	n.mu.Unlock()
	address, _, _ = strings.Cut(address, "\n")
	if !found {
		n.t.Fatal("the node serves no metrics")
	}
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	all := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(name, "domtap_cluster_") {
			all[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return all
}

// An operator sees the cluster through any node, moves a session, and drains a node. The node's health reports the drain.
func TestOperatingACluster(t *testing.T) {
	t.Setenv("DOMTAP_METRICS", "127.0.0.1:0")
	st := newStage(t)
	tab := st.create(st.nodes[0], "kept", true)
	home := st.home(st.nodes[0], "kept")
	rest := st.others(home)
	testenv.Await(t, "metrics count the session", func() bool {
		return rest[0].metrics()[`domtap_cluster_sessions{node="`+home.id+`"}`] == 1
	})
	for _, n := range st.nodes {
		var now *domtapv1.GetClusterResponse
		testenv.Await(t, n.id+" knows the session", func() bool {
			now = n.status()
			at, state := nodeOf(now, "kept")
			return at == home.id && now.GetLeader() != "" && state == domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY
		})
		if now.GetCluster() != "shop" || now.GetNodeId() != n.id || len(now.GetNodes()) != 3 {
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
	before, after := home.metrics(), leaving.metrics()
	if before["domtap_cluster_moved_sessions_total"] != 1 || after[`domtap_cluster_takeovers_total{outcome="restored"}`] != 1 || before[`domtap_cluster_nodes{state="serving"}`] != 3 ||
		before["domtap_cluster_lease_age_seconds"] >= 13 || before[`domtap_cluster_passed_calls_total{what="all"}`] == 0 {
		t.Errorf("the metrics are %v and %v", before, after)
	}
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

// A node that is cut off reports this to load balancers, but not to supervisors that would restart it. Its sessions without tabs to restore
// stay usable for its own clients. The node serves again when the other nodes are back.
func TestHealthSaysThatANodeIsCutOff(t *testing.T) {
	st := newStage(t)
	alone := st.nodes[0]
	for _, session := range []string{"a", "b", "c"} { // usually at least one of them is on this node
		st.create(alone, session, false)
	}
	kept := ""
	list, err := alone.Tabs.ListTabs(testenv.Within(t, limit), new(domtapv1.ListTabsRequest))
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range list.GetTabs() {
		if st.home(alone, tab.GetSessionId()) == alone {
			kept = tab.GetId()
		}
	}
	for _, n := range st.others(alone) {
		n.signal(syscall.SIGSTOP) // like a pulled cable
	}
	testenv.Await(t, "health says that the node is cut off", func() bool { return !alone.serving() })
	whole, err := alone.health.Check(t.Context(), new(healthv1.HealthCheckRequest))
	if err != nil || whole.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("the daemon as a whole: %v, %v", whole, err)
	}
	if got, err := alone.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: kept}); kept != "" && err != nil {
		t.Errorf("a tab of its own: %v, %v", testenv.Texts(got), err)
	}
	for _, n := range st.others(alone) {
		n.signal(syscall.SIGCONT)
	}
	alone.ready()
}
