package peers

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/testenv"
)

// TestEveryMethodHasAClass requires a decision about which node serves a new method.
func TestEveryMethodHasAClass(t *testing.T) {
	seen := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("domtap.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				m := file.Services().Get(i).Methods().Get(j)
				name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
				class, ok := classes[name]
				if !ok {
					t.Errorf("%s has no class: add it to classes, so that calls reach the right node", name)
				}
				seen++
				fields := m.Input().Fields()
				if class == local && (fields.ByName(tabField) != nil || fields.ByName(sessionField) != nil || fields.ByName(nodeField) != nil) {
					t.Errorf("%s is served by the node that gets the call, but its request names a tab, a session or a node", name)
				}
				if m.IsStreamingClient() {
					t.Errorf("%s streams from the client: RecvMsg of routedStream has to pass that on", name)
				}
			}
		}
		return true
	})
	if seen != len(classes) {
		t.Errorf("there are %d methods and %d classes", seen, len(classes))
	}
	if _, err := methodsOf(classes); err != nil {
		t.Error(err)
	}
	for name, class := range map[string]class{"/domtap.v1.TabService/ListTabs": byTab, "/domtap.v1.TabService/None": byTab, "/domtap.v1.TabService/GetTab": bySession} {
		if _, err := methodOf(name, class); err == nil {
			t.Errorf("%s as class %d is no error", name, class)
		}
	}
}

// TestCallsReachTheirTab opens a tab on one node and uses it through another.
func TestCallsReachTheirTab(t *testing.T) {
	c := newCluster(t, 3, options{})
	near, far := c.nodes[0].conn, c.nodes[1].conn
	tab, _ := c.open(near, 1, "")
	request := &domtapv1.GetDomRequest{TabId: tab.GetId()}
	got, err := domtapv1.NewDomServiceClient(near).GetDom(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	want, err := domtapv1.NewDomServiceClient(far).GetDom(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.GetElements()) != 2 || !proto.Equal(got, want) {
		t.Errorf("through another node: %v\nat its own: %v", got, want)
	}
	if _, err := domtapv1.NewTabServiceClient(c.nodes[2].conn).CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.nodes[1].pool.Tab(tab.GetId()); err == nil {
		t.Error("the tab is still open")
	}
}

// TestErrorsPassUnchanged compares errors with details through another node to the errors of the tab's node.
func TestErrorsPassUnchanged(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	for name, call := range map[string]func(*grpc.ClientConn) error{
		"invalid": func(conn *grpc.ClientConn) error {
			_, err := domtapv1.NewDomServiceClient(conn).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(5000)})
			return err
		},
		"unknown root": func(conn *grpc.ClientConn) error {
			_, err := domtapv1.NewDomServiceClient(conn).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), RootRef: proto.Uint32(999)})
			return err
		},
		"no history": func(conn *grpc.ClientConn) error {
			_, err := domtapv1.NewTabServiceClient(conn).GoForward(t.Context(), &domtapv1.GoForwardRequest{TabId: tab.GetId()})
			return err
		},
		"url policy": func(conn *grpc.ClientConn) error {
			_, err := domtapv1.NewTabServiceClient(conn).Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: "file:///etc/passwd"})
			return err
		},
		"watch": func(conn *grpc.ClientConn) error {
			stream, err := domtapv1.NewDomServiceClient(conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId(), RootRef: proto.Uint32(999)})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	} {
		through, at := call(c.nodes[0].conn), call(c.nodes[1].conn)
		if through == nil || at == nil {
			t.Errorf("%s: no error: %v, %v", name, through, at)
			continue
		}
		got, _ := proto.MarshalOptions{Deterministic: true}.Marshal(status.Convert(through).Proto())
		want, _ := proto.MarshalOptions{Deterministic: true}.Marshal(status.Convert(at).Proto())
		if !slices.Equal(got, want) {
			t.Errorf("%s: through another node: %v\nat its own: %v", name, through, at)
		}
	}
}

// TestUnknownTabsAreUnknown requests a tab that no node has.
func TestUnknownTabsAreUnknown(t *testing.T) {
	c := newCluster(t, 2, options{})
	_, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: "t-aaaaaaaaaaaa"})
	wantCode(t, err, codes.NotFound, "NOT_FOUND")
}

// TestAStaleDirectoryCostsNoError makes a directory return a wrong answer: a third node, a node that is gone, or no node.
func TestAStaleDirectoryCostsNoError(t *testing.T) {
	c := newCluster(t, 4, options{})
	near := c.nodes[0]
	tab, _ := c.open(near.conn, 1, "")
	home, _ := c.open(near.conn, 0, "home")
	c.nodes[3].end()
	for name, stale := range map[string]struct {
		tab string
		at  int
	}{"a third": {tab.GetId(), 2}, "one that is gone": {tab.GetId(), 3}, "own tab at another": {home.GetId(), 2}} {
		c.mu.Lock()
		near.stale = map[string]int{stale.tab: stale.at}
		c.mu.Unlock()
		got, err := domtapv1.NewTabServiceClient(near.conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: stale.tab})
		if err != nil || got.GetTab().GetId() != stale.tab {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		stream, err := domtapv1.NewDomServiceClient(near.conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: stale.tab})
		if err != nil {
			t.Fatal(err)
		}
		if first, err := stream.Recv(); err != nil || first.GetSnapshot() == nil {
			t.Errorf("%s: the stream begins with %v, %v", name, first, err)
		}
	}
	// Both nodes are wrong about the tab, and each names the other. The second attempt is final.
	c.mu.Lock()
	near.stale = map[string]int{tab.GetId(): 2}
	c.nodes[2].stale = map[string]int{tab.GetId(): 0}
	c.nodes[1].stale = map[string]int{tab.GetId(): 0}
	c.mu.Unlock()
	if _, err := domtapv1.NewTabServiceClient(near.conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()}); err != nil {
		t.Errorf("when all are wrong: %v", err)
	}
}

// TestADirectoryWithoutAnswers makes the registry unavailable. Calls that the node can route by itself still work, and the others can be
// retried.
func TestADirectoryWithoutAnswers(t *testing.T) {
	c := newCluster(t, 2, options{})
	near := c.nodes[0]
	known, _ := c.open(near.conn, 1, "")
	unknown, _ := c.open(near.conn, 1, "other")
	get := func(tab *domtapv1.Tab) error {
		_, err := domtapv1.NewTabServiceClient(near.conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()})
		return err
	}
	silence := func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		near.stale[known.GetId()], near.silent = 1, err
	}
	silence(errors.New("no quorum"))
	if err := get(known); err != nil {
		t.Errorf("a tab that the node knows: %v", err)
	}
	wantCode(t, get(unknown), codes.Unavailable, "REGISTRY_UNAVAILABLE")
	silence(rpcstatus.New(codes.Unavailable, "the session moves: try again", rpcstatus.Info("TAB_RESTORING", nil)))
	wantCode(t, get(unknown), codes.Unavailable, "TAB_RESTORING")
	silence(ErrGone)
	wantCode(t, get(unknown), codes.Unavailable, "NODE_UNAVAILABLE")
}

// A node that had a tab until it was cut off reports this, instead of an unknown tab, to nodes that do not know it yet.
func TestANodeThatIsCutOffDoesNotSayThatItsTabsAreUnknown(t *testing.T) {
	c := newCluster(t, 2, options{})
	near, far := c.nodes[0], c.nodes[1]
	c.mu.Lock()
	near.stale["t-fenced"] = 1
	far.silent = rpcstatus.New(codes.Unavailable, "this node was cut off", rpcstatus.Info("FENCED", nil))
	c.mu.Unlock()
	_, err := domtapv1.NewTabServiceClient(near.conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: "t-fenced"})
	wantCode(t, err, codes.Unavailable, "FENCED")
	stream, err := domtapv1.NewDomServiceClient(near.conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: "t-fenced"})
	if err == nil {
		_, err = stream.Recv()
	}
	wantCode(t, err, codes.Unavailable, "FENCED")
}

// TestASessionOfANodeThatIsGoneIsMadeAnew opens a tab in the default session of a client after the session's node is gone.
func TestASessionOfANodeThatIsGoneIsMadeAnew(t *testing.T) {
	c := newCluster(t, 2, options{})
	alice := c.nodes[0].dial(aliceToken)
	c.nodes[0].silent = ErrGone
	tab, _ := c.open(alice, 1, "")
	if owner, err := c.nodes[1].pool.Tab(tab.GetId()); err != nil || owner.Session() != "alice.default" {
		t.Errorf("the tab is %v, %v", owner, err)
	}
}

// TestWhatIsTriedAgain checks after which errors the directory's latest state is read.
func TestWhatIsTriedAgain(t *testing.T) {
	reads, acts, makes := &method{class: byTab, reads: true}, &method{class: byTab}, &method{class: newSession}
	tab, session := subject{tab: "t1"}, subject{session: "s"}
	for i, c := range []struct {
		m     *method
		about subject
		err   error
		want  bool
	}{
		{reads, tab, nil, false},
		{reads, tab, errMoved, true},
		{acts, tab, tabpool.NoTab("t1"), true},
		{acts, subject{}, tabpool.NoTab("t1"), false},
		{acts, tab, &unreachableError{}, false},
		{acts, tab, &unreachableError{unsent: true}, true},
		{reads, tab, &unreachableError{}, true},
		{reads, tab, &unreachableError{begun: true}, false},
		{acts, session, status.Error(codes.AlreadyExists, "at the same time"), true},
		{makes, session, status.Error(codes.AlreadyExists, "long ago"), false},
		{reads, tab, context.DeadlineExceeded, false},
		{reads, tab, status.Error(codes.Unavailable, "of the node itself"), false},
	} {
		if got := mayRetry(c.m, c.about, c.err); got != c.want {
			t.Errorf("case %d: %v after %v", i, got, c.err)
		}
	}
}

// TestWrongDirectoriesUnderLoad makes concurrent calls at all nodes, while each directory returns random nodes for tabs.
func TestWrongDirectoriesUnderLoad(t *testing.T) {
	c := newCluster(t, 3, options{})
	var tabs []string
	for at, session := range []string{"", "one", "two"} {
		tab, _ := c.open(c.nodes[0].conn, at, session)
		tabs = append(tabs, tab.GetId())
	}
	random := rand.New(rand.NewPCG(1, 2))
	shuffle := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, n := range c.nodes {
			for i, tab := range tabs {
				if n.index != i { // a node always knows its own tabs, but may be wrong about all others
					n.stale[tab] = random.IntN(len(c.nodes))
				}
			}
		}
	}
	var working sync.WaitGroup
	for i := range 12 {
		working.Go(func() {
			dom, tab := domtapv1.NewDomServiceClient(c.nodes[i%3].conn), tabs[i/3%3]
			for range testenv.Size(50, 500) {
				if _, err := dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab}); err != nil {
					t.Errorf("caller %d: %v", i, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				stream, err := dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
				if err == nil {
					_, err = stream.Recv()
				}
				if err != nil {
					t.Errorf("reader %d: %v", i, err)
				}
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		working.Wait()
	}()
	for {
		shuffle()
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestWatchingThroughAnotherNode follows changes of a page, until the tab is closed.
func TestWatchingThroughAnotherNode(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, page := c.open(c.nodes[0].conn, 1, "")
	stream, err := domtapv1.NewDomServiceClient(c.nodes[0].conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil || len(first.GetSnapshot().GetElements()) != 2 {
		t.Fatalf("got %v, %v", first, err)
	}
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("More")) })
	change, err := stream.Recv()
	if err != nil || len(change.GetDiff().GetAdded()) != 1 {
		t.Fatalf("got %v, %v", change, err)
	}
	if _, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if err != io.EOF {
		t.Errorf("the stream ended with %v", err)
	}
}

// TestCompressedCallsPass compresses requests, so that the answers are also compressed.
func TestCompressedCallsPass(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	got, err := domtapv1.NewDomServiceClient(c.nodes[0].conn).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()}, grpc.UseCompressor(gzip.Name))
	if err != nil || len(got.GetElements()) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	stream, err := domtapv1.NewDomServiceClient(c.nodes[0].conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()}, grpc.UseCompressor(gzip.Name))
	if err != nil {
		t.Fatal(err)
	}
	if first, err := stream.Recv(); err != nil || len(first.GetSnapshot().GetElements()) != 2 {
		t.Errorf("got %v, %v", first, err)
	}
}

// TestSessionsOfClientsHoldOnAllNodes uses a named client's sessions through nodes that do not have them.
func TestSessionsOfClientsHoldOnAllNodes(t *testing.T) {
	c := newCluster(t, 3, options{})
	alice := c.nodes[0].dial(aliceToken)
	tab, _ := c.open(alice, 1, "")
	if tab.GetSessionId() != "default" {
		t.Errorf("alice sees her session as %q", tab.GetSessionId())
	}
	if owner, _ := c.nodes[1].pool.Tab(tab.GetId()); owner.Session() != "alice.default" {
		t.Errorf("the tab is in the session %q", owner.Session())
	}
	elsewhere := c.nodes[2].dial(aliceToken)
	if _, err := domtapv1.NewDomServiceClient(elsewhere).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()}); err != nil {
		t.Errorf("alice at another node: %v", err)
	}
	secret, _ := c.open(c.nodes[0].conn, 2, "secret")
	_, foreign := domtapv1.NewTabServiceClient(alice).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: secret.GetId()})
	_, unknown := domtapv1.NewTabServiceClient(alice).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: "t-aaaaaaaaaaaa"})
	if status.Code(foreign) != codes.NotFound || strings.ReplaceAll(foreign.Error(), secret.GetId(), "") != strings.ReplaceAll(unknown.Error(), "t-aaaaaaaaaaaa", "") {
		t.Errorf("alice gets %v for a tab of the operator, and %v for an unknown one", foreign, unknown)
	}
	made, err := domtapv1.NewSessionServiceClient(alice).CreateSession(t.Context(), &domtapv1.CreateSessionRequest{})
	if err != nil || c.sessions["alice."+made.GetSession().GetId()] != 2 {
		t.Errorf("a session without a name: %v, %v", made, err)
	}
	_, err = domtapv1.NewSessionServiceClient(alice).CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: made.GetSession().GetId()})
	wantCode(t, err, codes.AlreadyExists, "EXISTS")
}

// TestNobodyElseSaysWhoCalls sends the metadata of nodes from outside the cluster.
func TestNobodyElseSaysWhoCalls(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	pretend := as(t.Context(), callerKey, "operator", rightsKey, "all", originKey, "x/1", finalKey, set)
	// A client keeps its own rights.
	_, err := domtapv1.NewTabServiceClient(c.nodes[0].dial(aliceToken)).GetTab(pretend, &domtapv1.GetTabRequest{TabId: tab.GetId()})
	wantCode(t, err, codes.NotFound, "NOT_FOUND")
	// The address for nodes accepts only the cluster's token.
	for name, token := range map[string]string{"operator": operatorToken, "none": ""} {
		direct := *c.nodes[1]
		direct.address = direct.Address
		_, err = domtapv1.NewTabServiceClient(direct.dial(token)).GetTab(pretend, &domtapv1.GetTabRequest{TabId: tab.GetId()})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("with the token %s: %v", name, err)
		}
	}
	// The cluster's token does not work without the caller's metadata, or at the address for clients.
	direct := *c.nodes[1]
	direct.address = direct.Address
	if _, err = domtapv1.NewTabServiceClient(direct.dial(clusterToken)).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a caller: %v", err)
	}
	if _, err = domtapv1.NewTabServiceClient(c.nodes[1].dial(clusterToken)).GetTab(pretend, &domtapv1.GetTabRequest{TabId: tab.GetId()}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("at the address for clients: %v", err)
	}
}
