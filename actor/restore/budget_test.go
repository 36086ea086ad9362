package restore_test

import (
	"testing"
	"time"

	"github.com/domtap/domtap/actor/restore"
)

func TestBudgetWaitsLongerEachTimeAndThenRefuses(t *testing.T) {
	var b restore.Budget
	now := time.Now()
	last := time.Duration(-1)
	for i := range restore.Times {
		wait, ok := b.Take(now.Add(time.Duration(i) * time.Second))
		if !ok || wait <= last {
			t.Fatalf("attempt %d waits %s after %s, allowed: %v", i+1, wait, last, ok)
		}
		last = wait
	}
	if _, ok := b.Take(now.Add(time.Minute)); ok {
		t.Errorf("there is an attempt %d within %s", restore.Times+1, restore.Window)
	}
}

func TestBudgetForgetsWhatLiesLongBack(t *testing.T) {
	var b restore.Budget
	now := time.Now()
	for range restore.Times {
		b.Take(now)
	}
	if _, ok := b.Take(now.Add(restore.Window - 1)); ok {
		t.Error("an attempt is forgotten before its time")
	}
	// The refused attempt did not count; otherwise this one would have to wait for it, too.
	if wait, ok := b.Take(now.Add(restore.Window)); !ok || wait != 0 {
		t.Errorf("after %s it waits %s, allowed: %v", restore.Window, wait, ok)
	}
}
