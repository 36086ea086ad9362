package admin

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// host is a cluster.Host with sessions but no browsers.
type host struct {
	mu sync.Mutex
	// busy contains the sessions with a call that does not end.
	busy map[string]bool
	size int
}

func (h *host) Restore(context.Context, cluster.Session) error { return nil }
func (h *host) Fence(string)                                   {}
func (h *host) Load() registry.Load {
	return registry.Load{Sessions: 1, MaxSessions: h.size, Tabs: 2, Busy: 0.5}
}

func (h *host) Idle(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.busy[session]
}

func (h *host) Stop(ctx context.Context, session string) ([]byte, error) {
	if h.Idle(session) {
		return nil, nil
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// one is a node with its service.
type one struct {
	*cluster.Node
	*host
	service *Service
}

// newNodes creates a cluster of the nodes a, b and so on, with the given session limits.
func newNodes(t *testing.T, sizes ...int) []one {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Name: "server", Secret: "secret", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	var all []one
	for i, size := range sizes {
		id := string(rune('a' + i))
		conn, err := embedded.Connect(t.Context(), embedded.Client{Name: id, Server: server})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		h := &host{busy: map[string]bool{}, size: size}
		n, err := cluster.Join(t.Context(), cluster.Config{
			ID: id, Address: id + ":1", Version: "v1", Role: registry.RoleClient, Host: h,
			Timing: lease.Timing{TTL: 3 * time.Second, HolderMargin: 400 * time.Millisecond, TakeoverMargin: 400 * time.Millisecond, RenewEvery: 400 * time.Millisecond},
			Open: func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
				return registry.Open(ctx, conn, cfg)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(context.Background()) })
		all = append(all, one{n, h, New("shop", n)})
	}
	for _, n := range all {
		for changed := n.Changed(); len(n.Nodes()) < len(all); changed = n.Changed() {
			<-changed
		}
	}
	return all
}

// makeSession creates a session on a node.
func (o one) makeSession(t *testing.T, name string, restore bool) {
	t.Helper()
	if err := o.Acquire(t.Context(), name, cluster.Options{Restore: restore}, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

func (o one) use(name string, used bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy[name] = used
}

func wantCode(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	if status.Code(err) != code || rpcstatus.Reason(err) != reason {
		t.Errorf("got %v with reason %q, want %v with %q", err, rpcstatus.Reason(err), code, reason)
	}
}

func TestTheClusterAsANodeKnowsIt(t *testing.T) {
	all := newNodes(t, 10, 10)
	a := all[0]
	a.makeSession(t, "work", true)
	if err := a.SetTab(t.Context(), "t1", registry.Tab{Session: "work"}); err != nil {
		t.Fatal(err)
	}
	got, err := a.service.GetCluster(t.Context(), &domtapv1.GetClusterRequest{})
	if err != nil || got.GetCluster() != "shop" || got.GetNodeId() != "a" || got.GetLeader() != "server" || got.GetAge() == nil || len(got.GetNodes()) != 2 || len(got.GetSessions()) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := got.GetNodes()[0]; n.GetNodeId() != "a" || n.GetIncarnation() == "" || n.GetAddress() != "a:1" || n.GetVersion() != "v1" || n.GetRole() != domtapv1.NodeRole_NODE_ROLE_CLIENT ||
		n.GetState() != domtapv1.NodeState_NODE_STATE_SERVING || n.GetMaxSessions() != 10 || n.GetSessions() != 1 || n.GetTabs() != 2 || n.GetBusy() != 0.5 || n.GetRenewed().AsDuration() > 3*time.Second {
		t.Errorf("a node is %v", n)
	}
	if s := got.GetSessions()[0]; s.GetSessionId() != "work" || s.GetNodeId() != "a" || s.GetState() != domtapv1.ClusterSessionState_CLUSTER_SESSION_STATE_READY || !s.GetRestore() || s.GetTabs() != 1 {
		t.Errorf("a session is %v", s)
	}
	for want, n := range map[domtapv1.NodeState]cluster.NodeStatus{
		domtapv1.NodeState_NODE_STATE_GONE:     {Node: registry.Node{Gone: true, Draining: true}, Silent: true},
		domtapv1.NodeState_NODE_STATE_SILENT:   {Node: registry.Node{Draining: true}, Silent: true},
		domtapv1.NodeState_NODE_STATE_DRAINING: {Node: registry.Node{Draining: true}},
	} {
		if got := stateOf(n); got != want {
			t.Errorf("%+v is %v, want %v", n, got, want)
		}
	}
	for _, phase := range []registry.Phase{registry.Ready, registry.Creating, registry.Restoring, registry.Moving} {
		if phases[phase] == 0 {
			t.Errorf("the phase %s has no state", phase)
		}
	}
}

func TestDrainNode(t *testing.T) {
	all := newNodes(t, 10, 10)
	a := all[0]
	a.makeSession(t, "idle", false)
	a.makeSession(t, "used", false)
	a.makeSession(t, "waits", true)
	a.use("used", true)
	a.use("waits", true)
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the call takes all of it
	defer cancel()
	got, err := a.service.DrainNode(short, &domtapv1.DrainNodeRequest{NodeId: "a"})
	if err != nil || len(got.GetMoved()) != 1 || got.GetMoved()[0].GetSessionId() != "idle" || got.GetMoved()[0].GetNodeId() != "b" || len(got.GetLeft()) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	if used, waits := got.GetLeft()[0], got.GetLeft()[1]; used.GetSessionId() != "used" || used.GetReason() != domtapv1.LeftReason_LEFT_REASON_IN_USE || used.GetMessage() == "" ||
		waits.GetReason() != domtapv1.LeftReason_LEFT_REASON_MOVING {
		t.Errorf("left: %v", got.GetLeft())
	}
	_, err = a.service.MoveSession(t.Context(), &domtapv1.MoveSessionRequest{SessionId: "idle", NodeId: "a"})
	wantCode(t, err, codes.Unavailable, "TAB_RESTORING") // b has the session, and peers would have passed the call to b
	if _, err := all[1].service.MoveSession(t.Context(), &domtapv1.MoveSessionRequest{SessionId: "idle", NodeId: "a"}); err == nil {
		t.Error("a session moved to a node that drains")
	}
	if got, err = a.service.DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: "a", Undo: true}); err != nil || a.Err() != nil {
		t.Errorf("undone: %v, %v, %v", got, err, a.Err())
	}
	_, err = a.service.DrainNode(t.Context(), &domtapv1.DrainNodeRequest{NodeId: "b"})
	wantCode(t, err, codes.NotFound, "NOT_FOUND")
	for reason, why := range map[domtapv1.LeftReason]error{
		domtapv1.LeftReason_LEFT_REASON_NO_ROOM: cluster.ErrNoRoom, domtapv1.LeftReason_LEFT_REASON_UNSPECIFIED: errors.New("the disk is full"),
	} {
		if got := leftReason(why); got != reason {
			t.Errorf("%v is %v", why, got)
		}
	}
}

func TestMoveSession(t *testing.T) {
	all := newNodes(t, 10, 10, 0)
	a, b := all[0], all[1]
	a.makeSession(t, "work", true)
	for range 2 { // the second time the session is already there
		got, err := a.service.MoveSession(t.Context(), &domtapv1.MoveSessionRequest{SessionId: "work", NodeId: "b"})
		if err != nil || got.GetNodeId() != "b" {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if err := b.Check("work"); err != nil {
		t.Errorf("the session cannot be used when the call returns: %v", err)
	}
	for _, wrong := range []struct {
		session, node string
		code          codes.Code
		reason        string
	}{
		{"none", "a", codes.NotFound, "NOT_FOUND"},
		{"work", "z", codes.NotFound, "NOT_FOUND"},
		{"work", "c", codes.ResourceExhausted, "LIMIT_REACHED"},
	} {
		_, err := b.service.MoveSession(t.Context(), &domtapv1.MoveSessionRequest{SessionId: wrong.session, NodeId: wrong.node})
		wantCode(t, err, wrong.code, wrong.reason)
	}
	b.use("work", true)
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := b.service.MoveSession(short, &domtapv1.MoveSessionRequest{SessionId: "work", NodeId: "a"})
	wantCode(t, err, codes.DeadlineExceeded, "")
	if err := b.Check("work"); err != nil {
		t.Errorf("the session is lost: %v", err)
	}
	for why, want := range map[error]codes.Code{cluster.ErrDraining: codes.FailedPrecondition, cluster.ErrSilent: codes.Unavailable, cluster.ErrFenced: codes.Unavailable, errors.New("full"): codes.Unavailable} {
		if err := moveError(why, "work", "a", "b"); status.Code(err) != want {
			t.Errorf("%v gives %v", why, err)
		}
	}
}
