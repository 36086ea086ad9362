package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
)

func TestASessionHasOneOwner(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	made := func(context.Context) error { return nil }
	if err := a.Acquire(w.ctx, "ada.work", cluster.Options{}, func(context.Context) error { return a.add("ada.work", nil) }); err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		if err := n.Acquire(w.ctx, "ada.work", cluster.Options{}, made); !errors.Is(err, cluster.ErrExists) {
			t.Errorf("it was made on %s, too: %v", n.id, err)
		}
		p, err := n.SessionOwner(w.ctx, "ada.work", true)
		if err != nil || p.Node != a.id || p.Address != "address-of-"+a.id || p.Local != (n == a) {
			t.Errorf("%s finds it at %+v, %v", n.id, p, err)
		}
	}
	if err := b.Check("ada.work"); !errors.Is(err, cluster.ErrElsewhere) {
		t.Errorf("another node may act for it: %v", err)
	}
	if err := a.Release(w.ctx, "ada.work"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SessionOwner(w.ctx, "ada.work", true); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("after its end: %v", err)
	}
	if err := b.Acquire(w.ctx, "ada.work", cluster.Options{}, made); err != nil {
		t.Errorf("its name is not free: %v", err)
	}
}

func TestASessionThatCannotBeMadeLeavesNothing(t *testing.T) {
	w := newWorld(t, quick)
	n := w.members(1)[0]
	broken := errors.New("no browser")
	if err := n.Acquire(w.ctx, "s", cluster.Options{}, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := n.SessionOwner(w.ctx, "s", true); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("it is there: %v", err)
	}
	if err := w.create(n, "s", cluster.Options{}); err != nil {
		t.Errorf("its name is not free: %v", err)
	}
}

// Lookups wait while a session is being created, and then find it.
func TestLookupsWaitForASessionThatIsBeingMade(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	begun, found := make(chan struct{}), make(chan error, 2)
	go func() {
		<-begun
		for _, n := range list {
			go func() {
				p, err := n.SessionOwner(w.ctx, "s", true)
				if err == nil && p.Node != list[0].id {
					err = fmt.Errorf("found at %+v", p)
				}
				found <- err
			}()
		}
	}()
	err := list[0].Acquire(w.ctx, "s", cluster.Options{}, func(context.Context) error {
		close(begun)
		select {
		case err := <-found:
			return fmt.Errorf("it was found too early: %w", err)
		case <-time.After(50 * time.Millisecond):
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for range list {
		if err := <-found; err != nil {
			t.Error(err)
		}
	}
}

func TestTabsAreFoundBySession(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	if err := w.create(list[0], "s", cluster.Options{Restore: true}); err != nil {
		t.Fatal(err)
	}
	p, err := list[0].SessionOwner(w.ctx, "s", false)
	if err != nil {
		t.Fatal(err)
	}
	owner := w.find(p.Node)
	for _, title := range []string{"", "loaded"} {
		if err := owner.SetTab(w.ctx, "t1", registry.Tab{Session: "s", URL: "https://example.com/", Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range list {
		if p, err := n.TabOwner(w.ctx, "t1", true); err != nil || p.Node != owner.id {
			t.Errorf("%s finds it at %+v, %v", n.id, p, err)
		}
		if err := n.SetTab(w.ctx, "t2", registry.Tab{Session: "s"}); (err == nil) != (n == owner) {
			t.Errorf("%s registers a tab: %v", n.id, err)
		}
	}
	if err := owner.Release(w.ctx, "s"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"t1", "t2"} {
		if _, err := owner.TabOwner(w.ctx, id, true); !errors.Is(err, cluster.ErrNone) {
			t.Errorf("tab %s outlives its session: %v", id, err)
		}
	}
}

// scale is the size of a test cluster.
type scale struct {
	nodes, sessions int
	// lost is the number of sessions with Restore on the node that dies.
	lost   int
	timing lease.Timing
	// uneven limits how many sessions a node may have more or less than its share. Nodes place sessions by counts that the others reported,
	// so in a small cluster each of them may choose the same node once before it hears of the others.
	uneven int
	// back limits how long the sessions of a dead node may be unavailable.
	back time.Duration
}

// size returns a small scale, unless the long suite runs.
func size() scale {
	if os.Getenv("DOMTAP_LONG") != "" {
		return scale{20, 1000, 50, lease.Standard, 5, 25 * time.Second}
	}
	return scale{5, 100, 20, quick, 5, 10 * time.Second}
}

// fill creates the sessions, at all nodes concurrently. Every fifth session is without Restore.
func (w *world) fill(list []*node, sessions int) {
	w.Helper()
	var clients sync.WaitGroup
	for c := range list {
		clients.Go(func() {
			for i := c; i < sessions; i += len(list) {
				if err := w.create(list[c], fmt.Sprint("s", i), cluster.Options{Restore: restores(i)}); err != nil {
					w.Errorf("session %d: %v", i, err)
				}
			}
		})
	}
	clients.Wait()
}

func restores(i int) bool { return i%5 > 0 }

// even fails the test unless the number of sessions on each node is close to its share.
func (w *world) even(list []*node, sessions, uneven int) {
	w.Helper()
	total := 0
	for _, n := range list {
		has := len(n.names())
		if total += has; len(list)*(has+uneven) < sessions || len(list)*(has-uneven) > sessions {
			w.Errorf("%s has %d of %d sessions on %d nodes", n.id, has, sessions, len(list))
		}
	}
	if total != sessions {
		w.Errorf("there are %d sessions, not %d", total, sessions)
	}
}

func TestSessionsAreEvenAndThoseOfADeadNodeComeBack(t *testing.T) {
	s := size()
	w := newWorld(t, s.timing)
	list := w.members(s.nodes)
	begun := time.Now()
	w.fill(list, s.sessions)
	t.Logf("%d sessions on %d nodes in %v", s.sessions, s.nodes, time.Since(begun))
	w.even(list, s.sessions, s.uneven)
	for i := range s.sessions {
		if _, err := w.call(list[i%len(list)], fmt.Sprint("s", i)); err != nil {
			t.Errorf("session %d: %v", i, err)
		}
	}
	if t.Failed() {
		return
	}

	dead, rest := list[1], append([]*node{list[0]}, list[2:]...)
	all := w.top(dead, s)
	lost := dead.names()
	begun = time.Now()
	w.kill(dead)
	comeBack(w, rest, lost)
	took := time.Since(begun)
	t.Logf("%d sessions of a dead node, %d with restore, %v after its death", len(lost), s.lost, took)
	if took > s.back {
		t.Errorf("they took longer than %v", s.back)
	}
	left := all
	for i := range all {
		name := fmt.Sprint("s", i)
		_, err := w.call(rest[i%len(rest)], name)
		if !lost[name] || restores(i) {
			if err != nil {
				t.Errorf("session %d: %v", i, err)
			}
			continue
		}
		left--
		if !errors.Is(err, cluster.ErrGone) {
			t.Errorf("session %d, which was without restore: %v", i, err)
		}
	}
	w.even(rest, left, s.uneven)
	again := w.join(dead.id, "") // the dead node joins again, without sessions
	if err := w.create(again, "s0", cluster.Options{}); lost["s0"] && err != nil || !lost["s0"] && !errors.Is(err, cluster.ErrExists) {
		t.Errorf("the name of a session that was lost: %v, of one that was not: %v", lost["s0"], err)
	}
}

// top creates sessions on a node until it has s.lost sessions with Restore. It returns the total number of sessions.
func (w *world) top(n *node, s scale) (all int) {
	w.Helper()
	has := 0
	for name := range n.names() {
		if restored(name) {
			has++
		}
	}
	for all = s.sessions; has < s.lost; all++ {
		if restores(all) {
			has++
		}
		name := fmt.Sprint("s", all)
		if err := n.Acquire(w.ctx, name, cluster.Options{Restore: restores(all)}, making(n, name)); err != nil {
			w.Fatal(err)
		}
	}
	return all
}

// comeBack waits until the lost sessions with Restore are on other nodes.
func comeBack(w *world, rest []*node, lost map[string]bool) {
	w.Helper()
	var clients sync.WaitGroup
	for i := range len(rest) {
		clients.Go(func() {
			n := 0
			for name := range lost {
				if n++; n%len(rest) != i || !restored(name) {
					continue
				}
				w.await(name, rest[i].Sessions, func() bool {
					at, err := w.call(rest[i], name)
					return err == nil && at != ""
				})
			}
		})
	}
	clients.Wait()
}

// restored reports whether a session of fill has Restore.
func restored(name string) bool {
	var i int
	_, err := fmt.Sscanf(name, "s%d", &i)
	return err == nil && restores(i)
}

func TestDrainingFailsNoCall(t *testing.T) {
	s := size()
	w := newWorld(t, s.timing)
	list := w.members(s.nodes)
	w.fill(list, s.sessions)
	leaving, rest := list[2], append(append([]*node{}, list[:2]...), list[3:]...)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var calls atomic.Int64
	var door sync.RWMutex // read-locked while a client uses a gateway, because the gateway may be the node that leaves
	gateways := list
	done := make([]atomic.Int32, s.sessions)
	for c := range 8 {
		clients.Go(func() {
			for i := c; ; i = (i + 8) % s.sessions {
				select {
				case <-stop:
					return
				default:
				}
				door.RLock()
				_, err := w.call(gateways[(i+c)%len(gateways)], fmt.Sprint("s", i))
				door.RUnlock()
				if err != nil {
					t.Errorf("session %d: %v", i, err)
					return
				}
				calls.Add(1)
				done[i].Add(1)
				runtime.Gosched()
			}
		})
	}
	begun := time.Now()
	if _, err := leaving.Operations().Drain(w.ctx); err != nil {
		t.Error(err)
	}
	t.Logf("drained in %v", time.Since(begun))
	if n := leaving.names(); len(n) > 0 {
		t.Errorf("%d sessions are left", len(n))
	}
	if err := leaving.Acquire(w.ctx, "new", cluster.Options{}, making(leaving, "new")); !errors.Is(err, cluster.ErrNoRoom) {
		t.Errorf("it takes a new session: %v", err)
	}
	w.await("others to know that it drains", list[0].Changed, func() bool {
		return slices.ContainsFunc(list[0].Nodes(), func(n registry.Node) bool { return n.ID == leaving.id && n.Draining })
	})
	for i := range 100 {
		if p, err := list[0].Place(fmt.Sprint("new", i)); err != nil || p.Node == leaving.id {
			t.Fatalf("a new session is placed at %+v, %v", p, err)
		}
	}
	door.Lock()
	gateways = rest
	door.Unlock()
	w.leave(leaving)
	for i := range s.sessions { // including the sessions that were restored last
		if _, err := w.call(rest[0], fmt.Sprint("s", i)); err != nil {
			t.Errorf("session %d: %v", i, err)
		}
		done[i].Add(1)
	}
	close(stop)
	clients.Wait()
	t.Logf("%d calls", calls.Load())
	for i := range s.sessions {
		has := 0
		for _, n := range rest {
			if c := n.count(fmt.Sprint("s", i)); c >= 0 {
				has += c
			}
		}
		if want := int(byte(done[i].Load())); has != want {
			t.Errorf("session %d counted %d of %d calls", i, has, want)
		}
	}
}
