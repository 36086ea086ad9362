package peers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/replication"
	"github.com/domtap/domtap/internal/server/tabview"
)

// copies provides the copies on a node.
type copies struct{ all *replication.Replicas }

func (c copies) Open(ctx context.Context, tab string, owner Node) (tabview.Source, func(), error) {
	return c.all.Open(ctx, tab, owner.Process())
}

func (c copies) Recent(tab string, owner Node, age time.Duration, of tabview.Selection) (tabview.Source, bool) {
	return c.all.Recent(tab, owner.Process(), age, of.Watch())
}

// withCopies returns options with which nodes keep copies over a NATS server. replicas holds the copies of each node.
func withCopies(t *testing.T) (o options, replicas map[string]*replication.Replicas) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	s, err := embedded.Start(ctx, embedded.Config{Name: "one", Secret: "secret", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	replicas = map[string]*replication.Replicas{}
	return options{copies: func(n *node) Copies {
		conn, err := embedded.Connect(ctx, embedded.Client{Server: s})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		log, err := logs.Open(ctx, conn, 1, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		owner := replication.NewOwner(context.WithoutCancel(ctx), replication.OwnerConfig{
			Log: log, Allowed: func() bool { return true },
			Tab: func(id string) (replication.Tab, uint64, error) {
				tab, err := n.pool.Tab(id)
				return tab, 1, err
			},
		})
		t.Cleanup(owner.Close)
		stop, err := log.Answer(context.WithoutCancel(ctx), n.Process(), owner.Answer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		all := replication.NewReplicas(context.WithoutCancel(ctx), n.Process(), replication.LogTransport(log), slog.New(slog.DiscardHandler))
		t.Cleanup(all.Close)
		replicas[n.ID] = all
		return copies{all}
	}}, replicas
}

// watch starts a stream. It fails the test on an error.
func watch(t *testing.T, n *node, token string, r *domtapv1.WatchDomRequest) domtapv1.DomService_WatchDomClient {
	t.Helper()
	stream, err := domtapv1.NewDomServiceClient(n.dial(token)).WatchDom(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// next receives the next message about the elements.
func next(t *testing.T, stream domtapv1.DomService_WatchDomClient) *domtapv1.WatchDomResponse {
	t.Helper()
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetSnapshot() != nil || m.GetDiff() != nil || m.GetResync() != nil {
			return m
		}
	}
}

func TestWatchesOfOtherNodesTabsAreServedFromCopies(t *testing.T) {
	o, replicas := withCopies(t)
	c := newCluster(t, 3, o)
	tab, page := c.open(c.nodes[0].conn, 0, "")
	request := &domtapv1.WatchDomRequest{TabId: tab.GetId()}
	var streams []domtapv1.DomService_WatchDomClient
	for range 5 {
		streams = append(streams, watch(t, c.nodes[1], operatorToken, request))
	}
	for _, s := range streams {
		if first := next(t, s); len(first.GetSnapshot().GetElements()) != 2 {
			t.Errorf("the first message is %v", first)
		}
	}
	if n := c.nodes[0].streams.Load(); n != 0 {
		t.Errorf("the owner of the tab serves %d streams", n)
	}
	if n := replicas["n2"].Len(); n != 1 {
		t.Errorf("the node keeps %d copies for five readers", n)
	}
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("Give away")) })
	var last *domtapv1.WatchDomResponse
	for _, s := range streams {
		m := next(t, s)
		if added := m.GetDiff().GetAdded(); len(added) != 1 || added[0].GetText() != "Give away" {
			t.Errorf("the change is %v", m)
		}
		last = m
	}

	// A reader whose node is gone continues at another node or at the owner, from the same revision.
	page.Update(func(main *actortest.Frame) { main.Body = main.Body[:1] })
	for _, n := range []*node{c.nodes[1], c.nodes[0]} {
		resumed := watch(t, n, operatorToken, &domtapv1.WatchDomRequest{TabId: tab.GetId(), FromRevision: proto.Uint64(last.GetRevision()), Epoch: last.GetEpoch()})
		if m := next(t, resumed); len(m.GetDiff().GetRemoved()) != 2 {
			t.Errorf("%s: what came since is %v", n.ID, m)
		}
	}

	if _, err := domtapv1.NewTabServiceClient(c.nodes[2].conn).CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		var closed bool
		m, err := s.Recv()
		for ; err == nil; m, err = s.Recv() {
			closed = m.GetTabStatus().GetStatus() == domtapv1.TabStatus_TAB_STATUS_CLOSED
		}
		if !errors.Is(err, io.EOF) || !closed {
			t.Errorf("the stream of a closed tab ended with %v, and it said that the tab is closed: %v", err, closed)
		}
	}
}

func TestCopiesAreThoseOfTheCallersTabs(t *testing.T) {
	o, _ := withCopies(t)
	c := newCluster(t, 2, o)
	tab, _ := c.open(c.nodes[0].conn, 0, "")
	stream := watch(t, c.nodes[1], aliceToken, &domtapv1.WatchDomRequest{TabId: tab.GetId()})
	if m, err := stream.Recv(); status.Code(err) != codes.NotFound {
		t.Errorf("alice watches the operator's tab: %v, %v", m, err)
	}
}

// Read-only calls are served from a copy if there is one that is recent enough. All other reads are served by the owner.
func TestReadsOfThoseWhoOnlyLookAreServedFromCopies(t *testing.T) {
	o, replicas := withCopies(t)
	c := newCluster(t, 2, o)
	tab, page := c.open(c.nodes[0].conn, 0, "")
	dom := domtapv1.NewDomServiceClient(c.nodes[1].conn)
	look := func(r *domtapv1.GetDomRequest) *domtapv1.GetDomResponse {
		t.Helper()
		r.TabId = tab.GetId()
		got, err := dom.GetDom(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	passed := func() int64 {
		n, _ := c.nodes[1].proxy.Counts()
		return n
	}
	only := func(age time.Duration) *domtapv1.GetDomRequest {
		return &domtapv1.GetDomRequest{ObserveOnly: true, MaxAge: durationpb.New(age)}
	}
	look(only(time.Minute))
	if n := passed(); n != 1 || replicas["n2"].Len() != 0 {
		t.Errorf("without a copy, %d reads were passed on, and there are %d copies", n, replicas["n2"].Len())
	}
	stream := watch(t, c.nodes[1], operatorToken, &domtapv1.WatchDomRequest{TabId: tab.GetId()})
	next(t, stream)
	before := passed()
	first := look(only(time.Minute))
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("Give away")) })
	changed := next(t, stream)
	second := look(only(time.Minute))
	if n := passed() - before; n != 0 || len(first.GetElements()) != 2 || len(second.GetElements()) != 3 || second.GetRevision() != changed.GetRevision() {
		t.Errorf("%d reads were passed on; the answers are %v and %v", n, first, second)
	}
	if second.GetElements()[0].GetRect() != nil {
		t.Error("the answer has boxes")
	}
	for what, r := range map[string]*domtapv1.GetDomRequest{
		"a read that is acted on":       {MaxAge: durationpb.New(time.Minute)},
		"a read of the current state":   {ObserveOnly: true},
		"a copy that is too old":        only(1),
		"attributes that it lacks":      {ObserveOnly: true, MaxAge: durationpb.New(time.Minute), IncludeAttributes: []string{"data-x"}},
		"whether it is in the viewport": {ObserveOnly: true, MaxAge: durationpb.New(time.Minute), ViewportOnly: true},
	} {
		before := passed()
		if look(r); passed() != before+1 {
			t.Errorf("%s: the read was not passed on", what)
		}
	}
	_, err := domtapv1.NewDomServiceClient(c.nodes[1].dial(aliceToken)).GetDom(t.Context(), &domtapv1.GetDomRequest{
		TabId: tab.GetId(), ObserveOnly: true, MaxAge: durationpb.New(time.Minute),
	})
	if status.Code(err) != codes.NotFound {
		t.Errorf("alice looks at the operator's tab: %v", err)
	}
}
