package cluster_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/testenv"
)

// When a node leaves in good order, other nodes take over its sessions with Restore without waiting for the end of its lease.
func TestANodeThatLeavesIsNotWaitedFor(t *testing.T) {
	slow := quick
	slow.TTL *= 10 // too long for the lease to expire in this test
	w := newWorld(t, slow)
	list := w.members(3)
	w.fill(list, 15)
	lost := list[0].names()
	begun := time.Now()
	w.leave(list[0])
	comeBack(w, list[1:], lost)
	if took := time.Since(begun); took > slow.TTL/2 {
		t.Errorf("it took %v", took)
	}
	if n := len(list[0].names()); n > 3 {
		t.Errorf("%d sessions were not fenced", n)
	}
}

// A node retries a failed restore of a session.
func TestARestoreThatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	w.fill(list, 10)
	list[1].mu.Lock()
	list[1].refuse = 3
	list[1].mu.Unlock()
	lost := list[0].names()
	w.leave(list[0])
	comeBack(w, list[1:], lost)
	if list[1].refuse > 0 {
		t.Errorf("%d restores were to fail, and did not", list[1].refuse)
	}
}

// given creates a session on one node, and waits until it is assigned to another node after the first node has left.
func (w *world) given(name string, from, to *node) {
	w.Helper()
	if err := from.Acquire(w.ctx, name, cluster.Options{Restore: true}, making(from, name)); err != nil {
		w.Fatal(err)
	}
	w.await("the session to be known", to.Sessions, func() bool { _, ok := to.SessionEntry(name); return ok })
	w.leave(from)
}

// A node does not wait forever for a browser that hangs while it restores a session.
func TestARestoreThatHangsIsTriedAgain(t *testing.T) {
	w := newWorld(t, lease.Timing{TTL: time.Second, HolderMargin: 100 * time.Millisecond, TakeoverMargin: 100 * time.Millisecond, RenewEvery: 100 * time.Millisecond})
	a, b := w.join("a", ""), w.join("b", "")
	b.mu.Lock()
	b.hang = 1
	b.mu.Unlock()
	w.given("s", a, b)
	comeBack(w, []*node{b}, map[string]bool{"s": true})
	w.await("the session to be used", b.Sessions, func() bool { _, err := w.call(b, "s"); return err == nil })
}

// If the registry stored an entry of a session that is being restored and the node did not learn of it, the next attempt replaces the
// entry.
func TestARestoreWhoseEndIsNotLearnedIsTriedAgain(t *testing.T) {
	w := newWorld(t, quick)
	a, b := w.join("a", ""), w.join("b", "")
	entered := make(chan chan struct{}, 8)
	b.mu.Lock()
	b.entered = entered
	b.mu.Unlock()
	w.given("s", a, b)
	first := <-entered
	if err := cluster.StoreReady(w.ctx, b.Node, "s"); err != nil {
		t.Fatal(err)
	}
	close(first)
	close(<-entered)
	testenv.Await(t, "the session is restored", func() bool {
		if len(entered) > 0 {
			t.Fatal("it is restored for the third time")
		}
		return b.Operations().Counts().Restored == 1
	})
	if at, err := w.call(b, "s"); err != nil || at != "b" {
		t.Errorf("it is used at %q: %v", at, err)
	}
}

// A session is not lost when it is assigned to a node under a token that this node has forgone at the request of another node.
func TestASessionThatWasForgoneComesBack(t *testing.T) {
	w := newWorld(t, quick)
	a, b := w.join("a", ""), w.join("b", "")
	if !cluster.Forgo(b.Node, "s", 1000) {
		t.Fatal("it has the session")
	}
	w.given("s", a, b)
	w.await("the session to be used", b.Sessions, func() bool { _, err := w.call(b, "s"); return err == nil })
	if token, err := b.Token("s"); err != nil || token <= 1000 {
		t.Errorf("it has token %d: %v", token, err)
	}
}

// A node rejoins even if it was cut off for so long that its next lease expired before the node learned of it.
func TestANodeThatWasCutOffForLongComesBack(t *testing.T) {
	w := newWorld(t, quick)
	wire := newWire(t, w.server.Address())
	w.join("a", "")
	cut := w.join("cut", wire.address())
	before := cut.Here()
	wire.cut()
	testenv.Await(t, "the node finds out", func() bool { return errors.Is(cut.Err(), cluster.ErrFenced) })
	time.Sleep(quick.TTL + quick.RenewEvery) // the renewal in flight arrives after the end of its lease
	wire.heal()
	testenv.Await(t, "the node is back", func() bool { return cut.Err() == nil && cut.Here() != before })
}

// A node that cannot restore sessions, for example without a browser, passes them on.
func TestARestoreThatKeepsFailingIsAnotherNodes(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(3)
	w.fill(list, 15)
	broken := list[1]
	broken.mu.Lock()
	broken.refuse = 1 << 30
	broken.mu.Unlock()
	lost := list[0].names()
	w.leave(list[0])
	comeBack(w, list[2:], lost)
	for name := range broken.names() {
		if lost[name] {
			t.Errorf("%s was restored by a node that refuses", name)
		}
	}
}

// An entry for which its node has no session is swept, and its name is released.
func TestANameThatWasNotGivenUpIsFreeInTheEnd(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	if err := list[0].Acquire(w.ctx, "s", cluster.Options{}, making(list[0], "s")); err != nil {
		t.Fatal(err)
	}
	cluster.Lose(list[0].Node, "s")
	w.await("the name to be free", list[1].Sessions, func() bool {
		return list[1].Acquire(w.ctx, "s", cluster.Options{}, making(list[1], "s")) == nil
	})
}

// A session with the name of a lost session does not get the tabs of the lost one.
func TestASessionHasNoTabsOfAnEarlierOne(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	if err := list[0].Acquire(w.ctx, "s", cluster.Options{}, making(list[0], "s")); err != nil {
		t.Fatal(err)
	}
	if err := list[0].SetTab(w.ctx, "t1", registry.Tab{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	w.kill(list[0])
	w.await("the node to be gone", list[1].Changed, func() bool {
		return list[1].Acquire(w.ctx, "s", cluster.Options{}, making(list[1], "s")) == nil
	})
	if p, err := list[1].TabOwner(w.ctx, "t1", true); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("the tab is at %+v, %v", p, err)
	}
}

// Sessions that ended with their node, and their tabs, do not stay in the registry forever.
func TestLostSessionsAreForgotten(t *testing.T) {
	w := newWorld(t, quick)
	w.keepLost = quick.RenewEvery
	list := w.members(3)
	a, b := list[1], list[0] // b has the first name
	for name, restore := range map[string]bool{"lost": false, "kept": true} {
		if err := a.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(a, name)); err != nil {
			t.Fatal(err)
		}
		if err := a.SetTab(w.ctx, "tab-of-"+name, registry.Tab{Session: name}); err != nil {
			t.Fatal(err)
		}
	}
	w.kill(a)
	w.await("the session to be forgotten", b.Leases, func() bool {
		_, err := b.SessionOwner(w.ctx, "lost", true)
		return errors.Is(err, cluster.ErrNone)
	})
	if p, err := b.TabOwner(w.ctx, "tab-of-lost", true); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("the tab is at %+v, %v", p, err)
	}
	if p, err := b.TabOwner(w.ctx, "tab-of-kept", true); err != nil {
		t.Errorf("the tab of the session that was taken over is at %+v, %v", p, err)
	}
}

func TestMove(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	if err := a.Acquire(w.ctx, "s", cluster.Options{}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := w.call(b, "s"); err != nil {
			t.Fatal(err)
		}
	}
	before, err := a.Token("s")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Operations().Move(w.ctx, "s", "n77"); !errors.Is(err, cluster.ErrNoNode) {
		t.Errorf("to a node that is not there: %v", err)
	}
	if err := b.Operations().Move(w.ctx, "s", a.id); !errors.Is(err, cluster.ErrElsewhere) {
		t.Errorf("by a node that does not have it: %v", err)
	}
	if err := a.Operations().Move(w.ctx, "s", b.id); err != nil {
		t.Fatal(err)
	}
	if at, err := w.call(a, "s"); err != nil || at != b.id {
		t.Errorf("it is at %s, %v", at, err)
	}
	if after, err := b.Token("s"); err != nil || after <= before {
		t.Errorf("token %d after %d, %v", after, before, err)
	}
	if n := b.count("s"); n != 4 {
		t.Errorf("it counted %d of 4 calls", n)
	}
}

// A node that is cut off stops its sessions with Restore before other nodes take them over. It keeps its other sessions, and they are found
// again when the node is back.
func TestANodeThatIsCutOff(t *testing.T) {
	w := newWorld(t, quick)
	wire := newWire(t, w.server.Address())
	rest := w.members(2)
	cut := w.join("cut", wire.address())
	for name, restore := range map[string]bool{"with": true, "without": false, "stolen": false} {
		if err := cut.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(cut, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := cut.Here()
	wire.cut()
	w.await("the session to be fenced", cut.next, func() bool { return !cut.names()["with"] })
	if err := cut.Check("with"); err == nil {
		t.Error("it may still act for the session")
	}
	if err := cut.act("without"); err != nil {
		t.Errorf("a session without restore: %v", err)
	}
	comeBack(w, rest, map[string]bool{"with": true})
	w.await("the session to be taken over", rest[0].Sessions, func() bool {
		_, err := w.call(rest[0], "with")
		return err == nil
	})
	// While the node is cut off, another session of the same name is created.
	if err := rest[0].Acquire(w.ctx, "stolen", cluster.Options{}, making(rest[0], "stolen")); err != nil {
		t.Fatal(err)
	}
	wire.heal()
	w.await("the session to be found again", rest[1].Sessions, func() bool {
		p, err := rest[1].SessionOwner(w.ctx, "without", true)
		return err == nil && p.Node == "cut" && p.Incarnation != before.Incarnation
	})
	w.await("the second session of a name to end", cut.next, func() bool { return !cut.names()["stolen"] })
	for _, name := range []string{"with", "without", "stolen"} {
		if _, err := w.call(cut, name); err != nil {
			t.Errorf("%s, by the node that was cut off: %v", name, err)
		}
	}
}

// A lookup that waits for a session ends with an error when its node is cut off.
func TestALookupEndsWhenTheNodeIsCutOff(t *testing.T) {
	w := newWorld(t, quick)
	wire := newWire(t, w.server.Address())
	a, cut := w.join("a", ""), w.join("cut", wire.address())
	made, end := make(chan struct{}), make(chan struct{})
	var making sync.WaitGroup
	making.Go(func() {
		_ = a.Acquire(w.ctx, "s", cluster.Options{}, func(context.Context) error {
			close(made)
			<-end
			return errFull
		})
	})
	<-made
	found := make(chan error, 1)
	w.await("the lookup to wait", cut.Sessions, func() bool {
		_, ok := cut.SessionEntry("s")
		return ok
	})
	go func() {
		_, err := cut.SessionOwner(w.ctx, "s", false)
		found <- err
	}()
	wire.cut()
	begun := time.Now()
	if err := <-found; !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("the lookup ended after %v with %v", time.Since(begun), err)
	}
	if _, err := cut.SessionOwner(w.ctx, "s", false); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("the next lookup ended with %v", err)
	}
	wire.heal()
	close(end)
	making.Wait()
}

// A node is cut off while it restores a session, and the session is assigned to it again. The node restores it a second time, but only
// after the first restore has ended.
func TestASessionIsRestoredByOneAtATime(t *testing.T) {
	w := newWorld(t, quick)
	wire := newWire(t, w.server.Address())
	gone, cut := w.join("gone", ""), w.join("cut", wire.address())
	if err := gone.Acquire(w.ctx, "s", cluster.Options{Restore: true}, making(gone, "s")); err != nil {
		t.Fatal(err)
	}
	w.await("the session to be known", cut.Sessions, func() bool { _, ok := cut.SessionEntry("s"); return ok })
	entered := make(chan chan struct{}, 8)
	cut.mu.Lock()
	cut.entered = entered
	cut.mu.Unlock()
	w.leave(gone)
	first, before := <-entered, cut.Here()
	wire.cut()
	testenv.Await(t, "the node finds out", func() bool { return errors.Is(cut.Err(), cluster.ErrFenced) })
	wire.heal()
	w.await("the session to be given to the node again", cut.Sessions, func() bool {
		e, _ := cut.SessionEntry("s")
		return cut.Here() != before && e.Value.Incarnation == cut.Here().Incarnation
	})
	select {
	case <-entered:
		t.Error("the session is restored twice at the same time")
	case <-time.After(2 * quick.RenewEvery): // the node checks again in this time
	}
	close(first)
	close(<-entered)
	w.await("the session to be back", cut.Sessions, func() bool {
		at, err := w.call(cut, "s")
		return err == nil && at == "cut"
	})
	if _, err := cut.Token("s"); err != nil || !cut.names()["s"] {
		t.Errorf("the session is not usable: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	w := newWorld(t, quick)
	n := w.join("one", "")
	w.fill([]*node{n}, 10)
	if len(goroutines()) == 0 {
		t.Fatal("no goroutine of a node was found while it ran")
	}
	w.leave(n)
	for len(goroutines()) > 0 && w.ctx.Err() == nil {
		runtime.Gosched()
	}
	for _, stack := range goroutines() {
		t.Errorf("still there: %s", stack)
	}
}

// goroutines returns the stacks of goroutines that nodes, leases and registries have started. NATS has others.
func goroutines() (stacks []string) {
	all := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		_, made, _ := strings.Cut(stack, "created by ")
		if _, ours, ok := strings.Cut(made, "/internal/cluster"); ok && !strings.HasPrefix(ours, "_test.") && !strings.HasPrefix(ours, "/embedded.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// wire is a TCP proxy that can be cut silently, as by a failed switch.
type wire struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	// gate is a closed channel while data passes.
	gate chan struct{}
}

func newWire(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to, gate: make(chan struct{})}
	close(w.gate)
	var running sync.WaitGroup
	end := make(chan struct{})
	t.Cleanup(func() {
		close(end)
		_ = l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", w.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				running.Go(func() { w.pass(way[0], way[1], end) })
			}
		}
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

// pass forwards data while the wire is not cut.
func (w *wire) pass(from, to net.Conn, end chan struct{}) {
	defer to.Close()
	go func() { <-end; _ = from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		gate := w.gate
		w.mu.Unlock()
		select {
		case <-gate:
		case <-end:
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close()
			}
			return
		}
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = make(chan struct{})
}

func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.gate)
}
