package cluster_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/testenv"
)

// use holds a session as a stream does, until done is called.
func (h *host) use(name string) (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[name]
	s.users++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.users--
	}
}

// Drain reports which sessions have moved and which have not. The node keeps draining when no call waits, and accepts sessions again after
// Undrain.
func TestDrainSaysWhatIsLeft(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	for name, restore := range map[string]bool{"idle": false, "used": false, "kept": true} {
		if err := a.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(a, name)); err != nil {
			t.Fatal(err)
		}
	}
	done := a.use("used")
	o := a.Operations()
	over, cancel := context.WithCancel(w.ctx)
	cancel()
	var now cluster.Drained
	var err error
	w.await("the sessions that nobody uses to move", a.Leases, func() bool {
		now, err = o.Drain(over) // over is canceled, so this call does not wait
		return len(now.Moved) == 2
	})
	if !errors.Is(err, context.Canceled) || len(now.Left) != 1 || !errors.Is(now.Left["used"], cluster.ErrBusy) {
		t.Errorf("left: %v, %v", now.Left, err)
	}
	if want := map[string]string{"idle": b.id, "kept": b.id}; !maps.Equal(now.Moved, want) {
		t.Errorf("moved: %v", now.Moved)
	}
	if !errors.Is(a.Err(), cluster.ErrDraining) {
		t.Errorf("it takes sessions: %v", a.Err())
	}
	done()
	if now, err = o.Drain(w.ctx); err != nil || len(now.Left) != 0 || len(now.Moved) != 3 {
		t.Errorf("in the end: %+v, %v", now, err)
	}
	o.Undrain()
	w.await("others to know that it takes sessions", b.Changed, func() bool {
		return slices.ContainsFunc(b.Nodes(), func(n registry.Node) bool { return n.ID == a.id && !n.Draining })
	})
	if err := a.Acquire(w.ctx, "new", cluster.Options{}, making(a, "new")); err != nil {
		t.Errorf("it takes no session: %v", err)
	}
}

// A session whose calls do not end does not prevent other sessions of its node from moving.
func TestASessionThatStaysDelaysNoOther(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	for name, restore := range map[string]bool{"held": true, "later": false} {
		if err := a.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(a, name)); err != nil {
			t.Fatal(err)
		}
	}
	a.mu.Lock()
	held, later := a.sessions["held"], a.sessions["later"]
	held.inside.Add(1)
	later.users++
	a.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		_, err := a.Operations().Drain(w.ctx)
		ended <- err
	}()
	testenv.Await(t, "the first session waits for its calls", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return held.stopping
	})
	a.mu.Lock()
	later.users--
	a.mu.Unlock()
	w.await("the other one to move", b.next, func() bool { return b.names()["later"] })
	held.inside.Done()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.await("the first one to move, too", b.next, func() bool { return b.names()["held"] })
}

// A node that an operator drains still accepts no sessions after a restart, until Undrain. A node that moved its sessions in order to stop
// accepts sessions again.
func TestDrainingOutlivesTheProcess(t *testing.T) {
	w := newWorld(t, quick)
	w.join("b", "")
	again := func(n *node) *node {
		w.leave(n)
		return w.join("a", "")
	}
	a := w.join("a", "")
	if _, err := a.Operations().Evacuate(w.ctx); err != nil {
		t.Fatal(err)
	}
	if a = again(a); a.Err() != nil {
		t.Errorf("after it moved its sessions to stop: %v", a.Err())
	}
	if _, err := a.Operations().Drain(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.await("the registry to know", a.Leases, func() bool {
		return slices.ContainsFunc(a.Nodes(), func(n registry.Node) bool { return n.ID == a.id && n.Drained })
	})
	w.kill(a)
	if a = w.join("a", ""); !errors.Is(a.Err(), cluster.ErrDraining) {
		t.Errorf("after it was drained and died: %v", a.Err())
	}
	if a = again(a); !errors.Is(a.Err(), cluster.ErrDraining) {
		t.Errorf("after it was drained and stopped: %v", a.Err())
	}
	a.Operations().Undrain()
	if a = again(a); a.Err() != nil {
		t.Errorf("after that was undone: %v", a.Err())
	}
}

// Drain returns the reason why a session stays, and returns an error when another call has undone the draining.
func TestDrainsThatDoNotEnd(t *testing.T) {
	w := newWorld(t, quick)
	a := w.join("a", "")
	if err := a.Acquire(w.ctx, "s", cluster.Options{Restore: true}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	o := a.Operations()
	over, cancel := context.WithTimeout(w.ctx, time.Second) // enough for at least one look
	defer cancel()
	if now, err := o.Drain(over); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(now.Left["s"], cluster.ErrNoRoom) {
		t.Errorf("with no other node: %v, %v", now.Left, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := o.Drain(w.ctx)
		ended <- err
	}()
	o.Undrain()
	// The other goroutine may have started to drain again.
	for waiting := true; waiting; {
		select {
		case err := <-ended:
			if !errors.Is(err, cluster.ErrUndrained) {
				t.Errorf("undone, it ended with %v", err)
			}
			waiting = false
		case <-time.After(10 * time.Millisecond):
			o.Undrain()
		}
	}
	go func() {
		_, err := o.Drain(w.ctx)
		ended <- err
	}()
	o.Halt()
	if err := <-ended; err == nil || len(a.names()) != 1 {
		t.Errorf("halted, it ended with %v, and the node has %v", err, a.names())
	}
}

func TestMovesThatCannotBe(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(3)
	a, b, c := list[0], list[1], list[2]
	if err := a.Acquire(w.ctx, "s", cluster.Options{}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Operations().Drain(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.await("the others to know", a.Changed, func() bool {
		return slices.ContainsFunc(a.Nodes(), func(n registry.Node) bool { return n.ID == b.id && n.Draining })
	})
	if err := a.Operations().Move(w.ctx, "s", b.id); !errors.Is(err, cluster.ErrDraining) {
		t.Errorf("to a node that drains: %v", err)
	}
	if err := a.Operations().Move(w.ctx, "s", a.id); err != nil {
		t.Errorf("to where it is: %v", err)
	}
	w.kill(c)
	w.await("the node to be silent", a.Leases, func() bool {
		return errors.Is(a.Operations().Move(w.ctx, "none", c.id), cluster.ErrSilent)
	})
	status := a.Operations().Status()
	if i := slices.IndexFunc(status.Nodes, func(n cluster.NodeStatus) bool { return n.ID == c.id }); i < 0 || !status.Nodes[i].Silent || status.Nodes[i].Renewed <= quick.RenewEvery {
		t.Errorf("the nodes are %+v", status.Nodes)
	}
	w.await("the node to be gone", a.Changed, func() bool {
		return errors.Is(a.Operations().Move(w.ctx, "none", c.id), cluster.ErrNoNode)
	})
	if n := len(a.Operations().Status().Nodes); n != 3 {
		t.Errorf("%d nodes are listed", n)
	}
}

func TestStatus(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	for name, restore := range map[string]bool{"s1": false, "s2": true} {
		if err := a.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(a, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"t1", "t2"} {
		if err := a.SetTab(w.ctx, id, registry.Tab{Session: "s2"}); err != nil {
			t.Fatal(err)
		}
	}
	var status cluster.Status
	w.await("the other node to know", b.Sessions, func() bool {
		status = b.Operations().Status()
		return len(status.Sessions) == 2 && status.Sessions[0].Phase == registry.Ready && status.Sessions[1].Phase == registry.Ready
	})
	if one, two := status.Sessions[0], status.Sessions[1]; one.Name != "s1" || one.Node != a.id || one.Restore || two.Name != "s2" || !two.Restore {
		t.Errorf("the sessions are %+v", status.Sessions)
	}
	if n := status.Nodes; len(n) != 2 || n[0].ID != a.id || n[1].ID != b.id || n[0].Address != "address-of-"+a.id || n[0].Role != registry.RoleServer || n[0].Silent ||
		n[0].Renewed > quick.TTL || n[0].Load.MaxSessions != capacity {
		t.Errorf("the nodes are %+v", n)
	}
	if status.Leader != "server" || status.Age < 0 || status.Age > quick.TTL {
		t.Errorf("the leader is %q, and all is %v old", status.Leader, status.Age)
	}
	w.leave(a) // s1 ends with the node, but s2 does not
	w.await("the session to be restored", b.Sessions, func() bool {
		status = b.Operations().Status()
		return len(status.Sessions) == 1 && status.Sessions[0].Node == b.id && status.Sessions[0].Phase == registry.Ready
	})
	w.await("the restored session to be counted", b.Leases, func() bool { return b.Operations().Counts().Restored > 0 })
	if c := b.Operations().Counts(); c.Restored != 1 || c.Unrestored != 0 || c.Renewed == 0 || c.LeaseAge > quick.TTL || c.Ended+c.Moved+c.Fenced != 0 {
		t.Errorf("it has counted %+v", c)
	}
	if s := status.Sessions[0]; s.Name != "s2" || s.Node != b.id || s.Tabs != 2 || len(status.Nodes) != 2 || !status.Nodes[0].Gone {
		t.Errorf("in the end: %+v", status)
	}
}
