package replication_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/cluster/replication"
	"github.com/domtap/domtap/internal/testenv"
)

// page is a tab whose page is changed by a test.
type page struct{ *actor.Replica }

func (page) Watch(context.Context, actor.WatchOptions) (func(), error) { return func() {}, nil }

// at returns the state of a page with the given elements, of which one shows the revision.
func at(revision uint64, elements []*dom.Element) actor.Published {
	one := *elements[0]
	one.Text = fmt.Sprint(revision)
	all := slices.Clone(elements)
	all[0] = &one
	s := &dom.Snapshot{Epoch: "a", Revision: revision, Document: 1, Elements: dom.ListOf(all)}
	return actor.Published{Snapshot: s, Info: actor.Info{ID: "t", Status: actor.StatusReady}, Refs: dom.Ref(len(all))}
}

func elements(n int) (out []*dom.Element) {
	for i := range n {
		out = append(out, &dom.Element{Ref: dom.Ref(i), Parent: dom.NoRef, Tag: "button", Role: "button", Text: fmt.Sprint("Button ", i)})
	}
	return out
}

// node connects to a server.
func node(tb testing.TB, s *embedded.Server) *logs.Log {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	conn, err := embedded.Connect(ctx, embedded.Client{Server: s})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(conn.Close)
	l, err := logs.Open(ctx, conn, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func TestMain(m *testing.M) { os.Exit(natstest.Main(context.Background(), m)) }

// pair returns a tab on one node and its copy on another, over a NATS server.
func pair(tb testing.TB, size int) (p page, c *replication.Copy, change func()) {
	tb.Helper()
	s, err := embedded.Start(tb.Context(), embedded.Config{Name: "one", Secret: "secret", StoreDir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return join(tb, node(tb, s), node(tb, s), size)
}

// join returns a tab on one node and its copy on another.
func join(tb testing.TB, here, there *logs.Log, size int) (p page, c *replication.Copy, change func()) {
	tb.Helper()
	all := elements(size)
	p = page{actor.NewReplica("t", at(1, all), actor.Options{})}
	owner := replication.NewOwner(tb.Context(), replication.OwnerConfig{
		Log: here, Allowed: func() bool { return true }, Tab: func(string) (replication.Tab, uint64, error) { return p, 7, nil },
	})
	tb.Cleanup(owner.Close)
	stop, err := here.Answer(tb.Context(), "n1", owner.Answer)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	replicas := replication.NewReplicas(tb.Context(), "n2/1", replication.LogTransport(there), slog.New(slog.DiscardHandler))
	tb.Cleanup(replicas.Close)
	var release func()
	testenv.Await(tb, "the servers to know who answers", func() bool { // each server learns of it from the others
		c, release, err = replicas.Open(tb.Context(), "t", "n1")
		return !errors.Is(err, nats.ErrNoResponders)
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return p, c, func() { p.Publish(at(p.Head().Snapshot.Revision+1, all)) }
}

// await waits until a copy has a revision.
func await(tb testing.TB, c *replication.Copy, revision uint64) {
	tb.Helper()
	bound := time.NewTimer(30 * time.Second)
	defer bound.Stop()
	for {
		head := c.Head()
		if head.Snapshot.Revision >= revision {
			return
		}
		select {
		case <-head.Next():
		case <-bound.C:
			tb.Fatalf("the copy has revision %d, want %d", head.Snapshot.Revision, revision)
		}
	}
}

// TestCopiesFollowOverNATS changes a page as fast as possible, and resumes from an earlier revision at the copy.
func TestCopiesFollowOverNATS(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() { // runs after all other cleanups
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
			runtime.Gosched()
		}
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d goroutines are left of %d", now, before)
		}
	})
	p, c, change := pair(t, 300)
	first := c.Head().Snapshot.Revision
	for range 2000 {
		change()
	}
	await(t, c, p.Head().Snapshot.Revision)
	for e := range c.Head().Snapshot.Elements.All() {
		if e.Ref == 0 && e.Text != fmt.Sprint(c.Head().Snapshot.Revision) {
			t.Errorf("revision %d shows %s", c.Head().Snapshot.Revision, e.Text)
		}
	}
	if old := c.Head().At(first); old == nil || old.Revision != first {
		t.Error("the copy cannot go back to the first revision that it had")
	}
}

// TestCopiesOutliveTheDeathOfTheLeader kills the server that leads the log while a page changes. Nothing is written for some seconds, and
// then the copy continues.
func TestCopiesOutliveTheDeathOfTheLeader(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("three servers, and an election: set DOMTAP_LONG")
	}
	processes, urls := natstest.Servers(t)
	connect := func(name string) (*nats.Conn, *logs.Log) {
		conn, err := embedded.Connect(t.Context(), embedded.Client{Name: name, URLs: urls, Secret: natstest.Secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		log, err := logs.Open(t.Context(), conn, 3, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return conn, log
	}
	conn, here := connect("n1")
	_, there := connect("n2")
	p, c, change := join(t, here, there, 300)
	for range 100 {
		change()
	}
	await(t, c, p.Head().Snapshot.Revision)
	leader := natstest.LeaderOf(t, conn, "domtap_log")
	if processes[leader] == nil {
		t.Fatalf("the leader is %q", leader)
	}
	_ = processes[leader].Process.Kill()
	begun := time.Now()
	change()
	await(t, c, p.Head().Snapshot.Revision)
	t.Logf("%s was killed: the copy had the next change after %v", leader, time.Since(begun))
	for range 100 {
		change()
	}
	await(t, c, p.Head().Snapshot.Revision)
	if err := c.Err(); err != nil {
		t.Errorf("the copy ended with %v", err)
	}
}

// BenchmarkChangeUntilTheCopyHasIt measures one change to a page of 1,000 elements, from the tab's head to the head of a copy on another
// node.
func BenchmarkChangeUntilTheCopyHasIt(b *testing.B) {
	p, c, change := pair(b, 1000)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		change()
		await(b, c, p.Head().Snapshot.Revision)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
