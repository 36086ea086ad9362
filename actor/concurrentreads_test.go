package actor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
)

// herd starts n watches concurrently while the page does not answer. The first of them, which leads the others, has its own context.
func herd(t *testing.T, tab *actor.Tab, first context.Context, n int) (failed func() []error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	begin := func(ctx context.Context, i int) {
		wg.Go(func() {
			release, err := tab.Watch(ctx, actor.WatchOptions{})
			if errs[i] = err; err == nil {
				t.Cleanup(release)
			}
		})
	}
	wg.Go(func() {
		if _, err := tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	begin(first, 0)
	synctest.Wait()
	for i := range n - 1 {
		begin(t.Context(), i+1)
	}
	synctest.Wait()
	return func() []error { wg.Wait(); return errs }
}

// A thousand clients that reconnect concurrently do not fill the mailbox, and cause one query to the page.
func TestWatchesThatBeginAtOnceShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{Mailbox: 4})
		page := b.Page(0)
		page.Hang()
		failed := herd(t, tab, t.Context(), 1000)
		before := page.Calls("Read")
		page.Resume()
		for i, err := range failed() {
			if err != nil {
				t.Fatalf("watch %d: %v", i, err)
			}
		}
		if asked := page.Calls("Read") - before; asked > 2 {
			t.Errorf("the page was asked %d times", asked)
		}
		if push, _ := page.Observed(); !push {
			t.Error("the page does not push")
		}
	})
}

// A caller that gives up does not affect the others.
func TestAWatchThatGivesUpLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		first, cancel := context.WithCancel(t.Context())
		failed := herd(t, tab, first, 10)
		cancel()
		synctest.Wait()
		b.Page(0).Resume()
		for i, err := range failed() {
			if gaveUp := errors.Is(err, context.Canceled); gaveUp != (i == 0) || !gaveUp && err != nil {
				t.Errorf("watch %d: %v", i, err)
			}
		}
		if push, _ := b.Page(0).Observed(); !push {
			t.Error("the page does not push")
		}
	})
}
