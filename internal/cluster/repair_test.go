package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/testenv"
)

// forgetful is a world whose NATS server can lose acknowledged writes.
type forgetful struct {
	*world
	cfg   embedded.Config
	nodes []*node
}

// newForgetful creates a world of three nodes. They connect over TCP, so that they can reconnect to the server.
func newForgetful(t *testing.T, timing lease.Timing) *forgetful {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	f := &forgetful{world: &world{T: t, ctx: ctx, timing: timing, states: map[string][]byte{}, tokens: map[string]uint64{}}}
	f.cfg = embedded.Config{Name: "server", Secret: "secret", StoreDir: t.TempDir()}
	t.Cleanup(func() { f.server.Close() })
	f.start()
	f.cfg.Listen = f.server.Address()
	for _, id := range []string{"a", "b", "c"} {
		conn, err := embedded.Connect(ctx, embedded.Client{Name: id, URLs: []string{"nats://" + f.cfg.Listen}, Secret: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		f.nodes = append(f.nodes, f.joinBy(id, func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
			cfg.GoBack = time.Second
			return registry.Open(ctx, conn, cfg)
		}))
	}
	for _, n := range f.nodes {
		f.await("all nodes to know of each other", n.Changed, func() bool { return len(n.Nodes()) == len(f.nodes) })
	}
	return f
}

func (f *forgetful) start() {
	f.Helper()
	var err error
	if f.server, err = embedded.Start(f.ctx, f.cfg); err != nil {
		f.Fatal(err)
	}
}

// remember saves a copy of the stored sessions. lose restores the copy, so that all later changes are lost, and calls meanwhile before the
// server runs again. Both stop the server briefly.
func (f *forgetful) remember() (lose func(meanwhile func())) {
	f.Helper()
	stream, saved := filepath.Join(f.cfg.StoreDir, "jetstream", "$G", "streams", "KV_domtap_sessions"), filepath.Join(f.TempDir(), "saved")
	replace := func(to, from string) {
		if err := os.RemoveAll(to); err != nil {
			f.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			f.Fatal(err)
		}
	}
	f.server.Close()
	replace(saved, stream)
	f.start()
	return func(meanwhile func()) {
		f.server.Close()
		replace(stream, saved)
		meanwhile()
		f.start()
	}
}

// settled waits until a session is on one node according to the registry, and can be used through all given nodes.
func (f *forgetful) settled(name string, through ...*node) (at string) {
	f.Helper()
	for _, n := range through {
		f.await("session "+name+" at "+n.id, n.Leases, func() bool {
			p, err := n.SessionOwner(f.ctx, name, true)
			at = p.Node
			if _, open := cluster.Gap(n.Node, name); err != nil || open {
				return false
			}
			_, err = f.call(n, name)
			return err == nil
		})
	}
	has := 0
	for _, n := range through {
		if n.names()[name] {
			has++
		}
	}
	if has != 1 {
		f.Errorf("%d nodes have session %s", has, name)
	}
	return at
}

// moved creates a session on the first node, moves it to the second node, and uses it there.
func (f *forgetful) moved(name string) {
	f.Helper()
	a, b := f.nodes[0], f.nodes[1]
	if err := f.eventually(func() error {
		return a.Acquire(f.ctx, name, cluster.Options{Restore: true}, making(a, name))
	}); err != nil {
		f.Fatal(err)
	}
	if err := f.eventually(func() error { return a.Operations().Move(f.ctx, name, b.id) }); err != nil {
		f.Fatal(err)
	}
	if err := f.eventually(func() error { _, err := f.call(a, name); return err }); err != nil {
		f.Fatal(err)
	}
}

// If the registry loses the entry that made a node the owner, the node stores the entry again and stays the owner.
func TestAnOwnerWhoseEntryIsLostStoresItAgain(t *testing.T) {
	f := newForgetful(t, lease.Standard)
	lose := f.remember()
	f.moved("s")
	before, err := f.nodes[1].Token("s")
	if err != nil {
		t.Fatal(err)
	}
	lose(func() {})
	f.await("the loss to be noticed", f.nodes[1].Leases, func() bool { return f.nodes[1].Operations().Counts().Reasserted > 0 })
	if at := f.settled("s", f.nodes...); at != "b" {
		t.Errorf("the session is at %s", at)
	}
	if now, err := f.nodes[1].Token("s"); err != nil || now != before {
		t.Errorf("its token is %d, and was %d: %v", now, before, err)
	}
}

// If the registry loses the entry of a session and the owner dies, another node restores the session under a later token.
func TestASessionWhoseEntryIsLostWithItsOwnerComesBack(t *testing.T) {
	f := newForgetful(t, quick)
	lose := f.remember()
	f.moved("s")
	owner := f.find("b")
	lose(func() { f.kill(owner) })
	rest := []*node{f.nodes[0], f.nodes[2]}
	if at := f.settled("s", rest...); at == "b" {
		t.Error("the session is at the node that died")
	}
}

// If the registry has lost a session's move and the earlier owner dies, the session is not reassigned while its current owner is alive.
func TestAnOwnerIsAskedBeforeItsSessionIsGivenAway(t *testing.T) {
	f := newForgetful(t, quick)
	if err := f.eventually(func() error {
		return f.nodes[0].Acquire(f.ctx, "s", cluster.Options{Restore: true}, making(f.nodes[0], "s"))
	}); err != nil {
		t.Fatal(err)
	}
	lose := f.remember()
	if err := f.eventually(func() error { return f.nodes[0].Operations().Move(f.ctx, "s", "b") }); err != nil {
		t.Fatal(err)
	}
	if err := f.eventually(func() error { _, err := f.call(f.nodes[2], "s"); return err }); err != nil {
		t.Fatal(err)
	}
	first := f.find("a")
	lose(func() { f.kill(first) }) // the registry now names it as the owner
	f.await("the owner to say so", f.nodes[1].Leases, func() bool { return f.nodes[1].Operations().Counts().Reasserted > 0 })
	rest := []*node{f.nodes[1], f.nodes[2]}
	if at := f.settled("s", rest...); at != "b" {
		t.Errorf("the session is at %s", at)
	}
}

// If a session cannot be stopped to move while the registry is unavailable, it is used again when the registry is back.
func TestASessionThatCannotMoveIsUsedAgain(t *testing.T) {
	f := newForgetful(t, lease.Standard)
	a, b := f.nodes[0], f.nodes[1]
	if err := a.Acquire(f.ctx, "s", cluster.Options{Restore: true}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	a.unstoppable = func() error {
		f.server.Close()
		close(stopping)
		return errFull
	}
	moved := make(chan error, 1)
	go func() { moved <- a.Operations().Move(f.ctx, "s", b.id) }()
	<-stopping
	time.Sleep(lease.Standard.RenewEvery / 10) // the node fails to store that the session is ready
	f.start()
	if err := <-moved; !errors.Is(err, errFull) {
		t.Errorf("the move ended with %v", err)
	}
	if at := f.settled("s", f.nodes...); at != "a" {
		t.Errorf("the session is at %s", at)
	}
}

// A node restores a session and does not learn whether the result was stored. Then the registry loses the assignment of the session to the
// node.
func TestAWriteThatIsLostDoesNotKeepASessionAway(t *testing.T) {
	if !testenv.Long() {
		t.Skip("it waits for the limits of requests, for 15 s: set DOMTAP_LONG")
	}
	f := newForgetful(t, lease.Standard)
	wire := newWire(t, f.cfg.Listen)
	conn, err := embedded.Connect(f.ctx, embedded.Client{Name: "d", URLs: []string{"nats://" + wire.address()}, Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	d := f.joinBy("d", func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
		cfg.GoBack = time.Second
		return registry.Open(ctx, conn, cfg)
	})
	a := f.nodes[0]
	if err := a.Acquire(f.ctx, "s", cluster.Options{Restore: true}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	lose := f.remember()
	entered := make(chan chan struct{}, 8)
	d.mu.Lock()
	d.entered = entered
	d.mu.Unlock()
	if err := f.eventually(func() error { return a.Operations().Move(f.ctx, "s", "d") }); err != nil {
		t.Fatal(err)
	}
	first := <-entered
	d.mu.Lock()
	d.entered = nil
	d.mu.Unlock()
	wire.cut()
	close(first)
	time.Sleep(6 * time.Second) // a request has 5 s, so the outcome of the write is unknown
	lose(wire.heal)
	f.settled("s", append(f.nodes, d)...)
}

// A node that has forgone a session does not claim it later, but can create a new session of the same name.
func TestANodeKeepsToWhatItSaid(t *testing.T) {
	w := newWorld(t, quick)
	n := w.join("one", "")
	if cluster.Forgo(n.Node, "s", 1<<40) != true {
		t.Error("it says that it has the session")
	}
	err := n.Acquire(w.ctx, "s", cluster.Options{}, making(n, "s"))
	if err != nil { // a new session of the name is not a lost one
		t.Error(err)
	}
	if cluster.Forgo(n.Node, "s", 1<<40) {
		t.Error("it says that it does not have the session")
	}
	if _, err := n.SessionOwner(w.ctx, "none", true); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("a session that never was: %v", err)
	}
}
