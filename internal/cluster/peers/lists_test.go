package peers

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestListsHaveAllNodes lists tabs, sessions and usage at each node, and names the nodes that do not answer.
func TestListsHaveAllNodes(t *testing.T) {
	var between links
	c := newCluster(t, 3, options{between: between.add(t)})
	var want []string
	for i, session := range []string{"", "one", "two"} {
		tab, _ := c.open(c.nodes[0].conn, i, session)
		want = append(want, tab.GetId())
	}
	for _, n := range c.nodes {
		tabs, err := domtapv1.NewTabServiceClient(n.conn).ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tab := range tabs.GetTabs() {
			got = append(got, tab.GetId())
		}
		if !slices.Equal(got, want) || len(tabs.GetMissingNodes()) != 0 {
			t.Errorf("%s lists %v, want %v", n.ID, tabs, want)
		}
		wantSessions(t, n, "default", "one", "two")
		only, err := domtapv1.NewTabServiceClient(n.conn).ListTabs(t.Context(), &domtapv1.ListTabsRequest{SessionId: "two"})
		if err != nil || len(only.GetTabs()) != 1 || only.GetTabs()[0].GetId() != want[2] {
			t.Errorf("%s lists %v of a session, %v", n.ID, only, err)
		}
		if calls := callsOf(t, n, "OpenTab"); calls != 3 {
			t.Errorf("%s counts %d tabs that were opened", n.ID, calls)
		}
	}
	// A list of three nodes counts once, on the node that was called.
	if calls := callsOf(t, c.nodes[0], "ListSessions"); calls != 3 {
		t.Errorf("%d calls of ListSessions are counted", calls)
	}
	c.nodes[0].proxy.cfg.PartTimeout = 200 * time.Millisecond // no other node answers any more
	between[1].halt()
	between[2].cut()
	tabs, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(tabs.GetTabs()) != 1 || !slices.Equal(tabs.GetMissingNodes(), []string{"n2", "n3"}) {
		t.Errorf("without two nodes: %v, %v", tabs, err)
	}
	// Only a part of the deadline is reserved to combine the answers. A busy machine may need more, so the test retries with longer
	// deadlines.
	for limit := 2 * time.Second; ; limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		tabs, err = domtapv1.NewTabServiceClient(c.nodes[0].conn).ListTabs(ctx, &domtapv1.ListTabsRequest{})
		cancel()
		if status.Code(err) != codes.DeadlineExceeded || limit > 10*time.Second {
			break
		}
	}
	if err != nil || len(tabs.GetMissingNodes()) != 2 {
		t.Errorf("with a deadline: %v, %v", tabs, err)
	}
}

// TestAClientHasOneDefaultSession lists the sessions of a client at all nodes. The first use creates the default session, and a list does
// not.
func TestAClientHasOneDefaultSession(t *testing.T) {
	c := newCluster(t, 3, options{})
	c.next = 1
	for _, n := range c.nodes {
		all, err := domtapv1.NewSessionServiceClient(n.dial(aliceToken)).ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
		if err != nil || len(all.GetSessions()) != 0 || len(c.sessions) != 0 {
			t.Errorf("before its first use, %s lists %v, %v", n.ID, all, err)
		}
	}
	if _, err := domtapv1.NewTabServiceClient(c.nodes[0].dial(aliceToken)).OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: shopURL}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, n := range c.nodes {
			all, err := domtapv1.NewSessionServiceClient(n.dial(aliceToken)).ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
			if err != nil || len(all.GetSessions()) != 1 || all.GetSessions()[0].GetId() != "default" {
				t.Errorf("%s lists %v, %v", n.ID, all, err)
			}
		}
	}
	if c.sessions["alice.default"] != 1 {
		t.Errorf("the sessions are at %v", c.sessions)
	}
}

func wantSessions(t *testing.T, n *node, want ...string) {
	t.Helper()
	all, err := domtapv1.NewSessionServiceClient(n.conn).ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
	var got []string
	for _, s := range all.GetSessions() {
		got = append(got, s.GetId())
	}
	if err != nil || !slices.Equal(got, want) || len(all.GetMissingNodes()) != 0 {
		t.Errorf("%s lists the sessions %v, %v, want %v", n.ID, all, err, want)
	}
}

// callsOf returns how many calls of a method all nodes have counted, according to one of them.
func callsOf(t *testing.T, n *node, method string) int64 {
	t.Helper()
	all, err := domtapv1.NewStatsServiceClient(n.conn).GetStats(t.Context(), &domtapv1.GetStatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all.GetTotal().GetMethods() {
		if m.GetMethod() == method {
			return m.GetCalls()
		}
	}
	return 0
}

// TestUsageAddsUp merges the usage of two nodes.
func TestUsageAddsUp(t *testing.T) {
	usage := func(since int64, method string, calls int64, p50 time.Duration) *domtapv1.GetStatsResponse {
		account := func(session string) *domtapv1.Account {
			return &domtapv1.Account{
				SessionId: session, Reads: &domtapv1.ReadStats{Pages: calls},
				Steps: []*domtapv1.StepStats{{Kind: "click", Done: calls, Failures: map[string]int64{"OTHER": calls}}},
				Methods: []*domtapv1.MethodStats{{
					Method: method, Calls: calls, Failures: map[string]int64{"OTHER": calls},
					Latency: &domtapv1.LatencyStats{Count: calls, P50: durationpb.New(p50), Max: durationpb.New(2 * p50)},
				}},
			}
		}
		return &domtapv1.GetStatsResponse{
			Since: &timestamppb.Timestamp{Seconds: since}, Tokenizer: "o200k", Total: account(""), Sessions: []*domtapv1.Account{account("both"), account(method)},
		}
	}
	m, err := methodOf(domtapv1.StatsService_GetStats_FullMethodName, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	got := merge(m, []nodeAnswer{
		{node: Node{ID: "b", Self: true}, answer: usage(7, "GetDom", 1, time.Second)}, {node: Node{ID: "c"}, err: context.DeadlineExceeded},
		{node: Node{ID: "a"}, answer: usage(5, "GetTab", 2, time.Minute)}, {node: Node{ID: "d"}, answer: usage(9, "GetDom", 4, time.Minute)},
	}).(*domtapv1.GetStatsResponse)
	if got.GetSince().GetSeconds() != 5 || !slices.Equal(got.GetMissingNodes(), []string{"c"}) || got.GetTotal().GetReads().GetPages() != 7 {
		t.Errorf("got %v", got)
	}
	methods := got.GetTotal().GetMethods()
	if len(methods) != 2 || methods[0].GetCalls() != 5 || methods[0].GetFailures()["OTHER"] != 5 || methods[1].GetMethod() != "GetTab" || methods[1].GetCalls() != 2 {
		t.Errorf("the methods are %v", methods)
	}
	if l := methods[0].GetLatency(); l.GetCount() != 5 || l.GetP50().AsDuration() != time.Minute || l.GetMax().AsDuration() != 2*time.Minute {
		t.Errorf("the latency is %v", l)
	}
	if steps := got.GetTotal().GetSteps(); len(steps) != 1 || steps[0].GetDone() != 7 || steps[0].GetFailures()["OTHER"] != 7 {
		t.Errorf("the steps are %v", steps)
	}
	if s := got.GetSessions(); len(s) != 3 || s[0].GetSessionId() != "both" || s[0].GetReads().GetPages() != 7 {
		t.Errorf("the sessions are %v", s)
	}
}

// TestWatchingTheTabsOfAllNodes follows tabs that open on all nodes, including a node that joins later, until a node dies.
func TestWatchingTheTabsOfAllNodes(t *testing.T) {
	var between links
	o := options{between: between.add(t)}
	c := newCluster(t, 2, o)
	before, _ := c.open(c.nodes[0].conn, 1, "before")
	stream, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).WatchTabs(testenv.Within(t, testenv.Patience), &domtapv1.WatchTabsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	opened := func(id string) {
		t.Helper()
		for {
			m, err := stream.Recv()
			if err != nil {
				t.Fatalf("waiting for the tab %s: %v", id, err)
			}
			if m.GetOpened() != nil && m.GetTab().GetId() == id {
				return
			}
		}
	}
	opened(before.GetId())
	for at := range 2 {
		tab, _ := c.open(c.nodes[1].conn, at, fmt.Sprintf("s%d", at))
		opened(tab.GetId())
	}
	c.add(2, o)
	joined, _ := c.open(c.nodes[1].conn, 2, "joined")
	opened(joined.GetId())
	between[2].cut()
	for err == nil {
		_, err = stream.Recv()
	}
	wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
	again, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).WatchTabs(t.Context(), &domtapv1.WatchTabsRequest{})
	if err == nil {
		_, err = again.Recv()
	}
	wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
	for _, n := range c.nodes {
		testenv.Await(t, "streams of "+n.ID, func() bool { return n.streams.Load() == 0 })
	}
}
