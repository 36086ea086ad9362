package cluster_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/cluster/registry"
)

func TestMain(m *testing.M) { os.Exit(natstest.Main(context.Background(), m)) }

// While the servers elect a leader after a kill -9, nothing is written. Leases outlast the election, and nodes keep their views.
func TestLeasesOutlastTheDeathOfALeader(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("three servers, and an election: set DOMTAP_LONG")
	}
	for _, bucket := range []string{"KV_domtap_nodes", "KV_domtap_sessions"} {
		t.Run(bucket, func(t *testing.T) { killLeader(t, bucket) })
	}
}

// killLeader kills the leader of a bucket.
func killLeader(t *testing.T, bucket string) {
	processes, urls := natstest.Servers(t)
	w := &world{T: t, ctx: t.Context(), timing: lease.Standard, states: map[string][]byte{}, tokens: map[string]uint64{}}
	var list []*node
	var conn *nats.Conn
	for i := range 3 {
		c, err := embedded.Connect(w.ctx, embedded.Client{Name: fmt.Sprint("n", i), URLs: urls, Secret: natstest.Secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		conn = c
		list = append(list, w.joinBy(fmt.Sprint("n", i), func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
			cfg.Replicas = 3
			return registry.Open(ctx, c, cfg)
		}))
	}
	for _, n := range list {
		w.await("all nodes to know of each other", n.Changed, func() bool { return len(n.Nodes()) == len(list) })
	}
	w.fill(list, 30)
	before := map[string]string{}
	for _, n := range list {
		before[n.id] = n.Here().Incarnation
	}
	leader := natstest.LeaderOf(t, conn, bucket)
	if processes[leader] == nil {
		t.Fatalf("the leader is %q", leader)
	}
	_ = processes[leader].Process.Kill()
	begun := time.Now()
	if err := w.eventually(func() error { return w.create(list[0], "new", cluster.Options{Restore: true}) }); err != nil {
		t.Fatal(err)
	}
	made := time.Since(begun)
	renewed := map[string]uint64{}
	for _, n := range list[0].Nodes() {
		renewed[n.ID] = n.Renewal
	}
	w.await("all leases to be renewed", list[0].Leases, func() bool {
		return !slices.ContainsFunc(list[0].Nodes(), func(n registry.Node) bool { return n.Renewal <= renewed[n.ID]+1 })
	})
	t.Logf("%s was killed: a session was made after %v, and all leases were renewed after %v", leader, made, time.Since(begun))
	for _, n := range list {
		if now := n.Here().Incarnation; now != before[n.id] || n.fenced > 0 {
			t.Errorf("%s lost its lease", n.id)
		}
		for i := range 30 {
			if _, err := w.call(n, fmt.Sprint("s", i)); err != nil {
				t.Errorf("session %d at %s: %v", i, n.id, err)
			}
		}
	}
}

// eventually retries do until it succeeds, for as long as an election may take.
func (w *world) eventually(do func() error) error {
	ctx, cancel := context.WithTimeout(w.ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
