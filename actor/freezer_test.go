package actor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
)

// inFreezing runs a test with a tab that shows the shop. idle marks all tabs as idle, and then reports whether the page is frozen.
func inFreezing(t *testing.T, test func(t *testing.T, page *actortest.Page, pool *tabpool.Pool, tab *actor.Tab, idle func() bool)) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		test(t, page, pool, tab, func() bool {
			synctest.Wait()
			pool.FreezeIdle(0)
			synctest.Wait()
			if frozen := page.Frozen(); frozen != tab.Info().Frozen {
				t.Errorf("the page is frozen: %t, and the tab says %t", frozen, tab.Info().Frozen)
			}
			return page.Frozen()
		})
	})
}

func TestACallThawsThePage(t *testing.T) {
	inFreezing(t, func(t *testing.T, page *actortest.Page, pool *tabpool.Pool, tab *actor.Tab, idle func() bool) {
		if !idle() {
			t.Fatal("nobody uses the tab, and its page is not frozen")
		}
		page.Trace()
		call, end := context.WithCancel(t.Context())
		if _, err := pool.Use(call, tab.ID()); err != nil {
			t.Fatal(err)
		}
		read(t, tab, actor.ReadOptions{})
		if calls := page.Trace(); calls[0] != "SetFrozen" || page.Frozen() {
			t.Errorf("a read made the calls %v", calls)
		}
		if idle() {
			t.Error("the page was frozen while the tab was in use")
		}
		end()
		if !idle() {
			t.Error("the page is not frozen after the call")
		}
	})
}

func TestATabThatWasTakenOverIsNeverFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, _ := start(t, tabpool.Config{})
		if _, err := pool.Open(t.Context(), tabpool.OpenOptions{TakeOver: "1"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		pool.FreezeIdle(0)
		synctest.Wait()
		if !b.Page(0).Frozen() || b.Page(1).Frozen() {
			t.Errorf("the tab of the daemon is frozen: %t, that of the user: %t", b.Page(0).Frozen(), b.Page(1).Frozen())
		}
	})
}

func TestWhatHappensToPagesKeepsThemFromFreezing(t *testing.T) {
	type change func(page *actortest.Page)
	download := func(s driver.DownloadState) change {
		return func(page *actortest.Page) {
			page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "a", Filename: "a.zip", State: s}})
		}
	}
	for name, c := range map[string]struct{ begin, end change }{
		"dialog":            {func(p *actortest.Page) { p.OpenDialog(driver.Dialog{Type: "alert"}) }, func(p *actortest.Page) { p.CloseDialog() }},
		"download":          {download(driver.Fetching), download(driver.Fetched)},
		"canceled download": {download(driver.Fetching), download(driver.NotFetched)},
	} {
		t.Run(name, func(t *testing.T) {
			inFreezing(t, func(t *testing.T, page *actortest.Page, _ *tabpool.Pool, _ *actor.Tab, idle func() bool) {
				c.begin(page)
				if idle() {
					t.Error("the page was frozen meanwhile")
				}
				c.end(page)
				synctest.Wait()
				if !page.Frozen() {
					t.Error("the page was not frozen after that")
				}
			})
		})
	}
}

func TestAPageThatCannotBeFrozenGoesOn(t *testing.T) {
	inFreezing(t, func(t *testing.T, page *actortest.Page, pool *tabpool.Pool, tab *actor.Tab, idle func() bool) {
		page.RefuseFreezing(errors.New("no"))
		if idle() {
			t.Error("the page is frozen")
		}
		asked := page.Calls("SetFrozen")
		if idle(); page.Calls("SetFrozen") != asked {
			t.Error("it was tried again, though nobody has used the tab")
		}
		page.RefuseFreezing(nil)
		call, end := context.WithCancel(t.Context())
		if _, err := pool.Use(call, tab.ID()); err != nil {
			t.Fatal(err)
		}
		end()
		if !idle() {
			t.Error("it was not tried again after the tab was used")
		}
	})
}

func TestACrashedPageIsNotFrozen(t *testing.T) {
	inFreezing(t, func(t *testing.T, page *actortest.Page, _ *tabpool.Pool, tab *actor.Tab, idle func() bool) {
		page.Crash("killed")
		if idle() {
			t.Error("a crashed page was frozen")
		}
		if _, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil {
			t.Fatal(err)
		}
		if idle(); !page.Frozen() {
			t.Error("the page was not frozen after it came back")
		}
	})
}
