package cluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/domtap/domtap/internal/cluster"
)

// A session whose state cannot be saved does not move. It starts again on its node, without the state.
func TestAMoveWhoseStateIsNotSavedStays(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	for _, restore := range []bool{true, false} {
		name := map[bool]string{true: "with", false: "without"}[restore]
		if err := a.Acquire(w.ctx, name, cluster.Options{Restore: restore}, making(a, name)); err != nil {
			t.Fatal(err)
		}
		w.unsaved(errFull)
		if err := a.Operations().Move(w.ctx, name, b.id); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
		w.unsaved(nil)
		if at, err := w.call(b, name); err != nil || at != a.id {
			t.Errorf("%s is at %s, %v", name, at, err)
		}
	}
}

// A session that its host refuses to stop remains unchanged.
func TestAMoveThatIsRefusedChangesNothing(t *testing.T) {
	w := newWorld(t, quick)
	list := w.members(2)
	a, b := list[0], list[1]
	if err := a.Acquire(w.ctx, "s", cluster.Options{}, making(a, "s")); err != nil {
		t.Fatal(err)
	}
	before, _ := a.Token("s")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	if err := a.Operations().Move(ctx, "s", b.id); err == nil {
		t.Error("it moved without time")
	}
	if at, err := w.call(b, "s"); err != nil || at != a.id {
		t.Errorf("it is at %s, %v", at, err)
	}
	if after, err := a.Token("s"); err != nil || after != before {
		t.Errorf("its token was %d, and is %d, %v", before, after, err)
	}
}
