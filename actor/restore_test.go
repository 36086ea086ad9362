package actor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

// shelf is a RestoreStore that stores Records.
type shelf struct {
	mu   sync.Mutex
	kept map[string]restore.Record
}

func (s *shelf) Keep(k restore.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]restore.Record{}
	}
	s.kept[k.ID] = k
}

func (s *shelf) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
}

func (s *shelf) get(id string) (restore.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept[id]
	return k, ok
}

// restorable creates a pool with a tab that is restored.
func restorable(t *testing.T, cfg tabpool.Config) (*actortest.Browser, *tabpool.Pool, *actor.Tab) {
	t.Helper()
	b := actortest.NewBrowser()
	shop(b)
	pool := newPool(t, b, cfg)
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home, Restore: true, Viewport: dom.Box{Width: 640, Height: 480}})
	if err != nil {
		t.Fatal(err)
	}
	return b, pool, tab
}

func back(h *actor.Head) bool { return h.Info.Status == actor.StatusReady }

// TestUserAndPasswordOfAURLStayInTheTab restores a page whose URL has a user and a password. The page is loaded with them again, but no
// reader sees them.
func TestUserAndPasswordOfAURLStayInTheTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		signedIn := strings.Replace(home, "://", "://me:pw@", 1)
		b.Serve(signedIn, func() actortest.Screen {
			return actortest.Screen{Title: "Signed in", Body: []*actortest.Node{actortest.Button("Pay")}}
		})
		kept := new(shelf)
		tab, err := newPool(t, b, tabpool.Config{RestoreStore: kept}).Open(t.Context(), tabpool.OpenOptions{URL: signedIn, Restore: true})
		if err != nil {
			t.Fatal(err)
		}
		before := read(t, tab, actor.ReadOptions{}).Head
		synctest.Wait()
		if k, _ := kept.get(tab.ID()); k.URL != signedIn {
			t.Errorf("%q is kept, want %q", k.URL, signedIn)
		}
		b.Page(0).Crash("crashed")
		after := until(t, tab, func(h *actor.Head) bool { return back(h) && h.Snapshot.Epoch != before.Snapshot.Epoch })
		for _, h := range []*actor.Head{before, after} {
			if h.Info.URL != home || h.Snapshot.URL != home || h.Info.Title != "Signed in" {
				t.Errorf("the tab is at %s, and its snapshot at %s: %s", h.Info.URL, h.Snapshot.URL, h.Info.Title)
			}
		}
		if history := tab.History(); len(history) != 1 || history[0].URL != home {
			t.Errorf("the history is %v", history)
		}
	})
}

func TestRestoredTabIsTheSameTabInAnotherEpoch(t *testing.T) {
	for _, fault := range []string{"renderer", "browser"} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, pool, tab := restorable(t, tabpool.Config{})
				before := read(t, tab, actor.ReadOptions{}).Head
				b.Page(0).Scroll(driver.ScrollPosition{Y: 700})
				read(t, tab, actor.ReadOptions{})
				synctest.Wait()
				watch := pool.Watch()
				defer watch.Stop()
				if fault == "renderer" {
					b.Page(0).Crash("crashed")
				} else {
					b.Break()
					synctest.Wait()
					if got := tab.Info().Status; got != actor.StatusRestoring {
						t.Errorf("while the browser is down the tab is %s", got)
					}
					b.Restart()
				}
				after := until(t, tab, func(h *actor.Head) bool { return back(h) && h.Snapshot.Epoch != before.Snapshot.Epoch })
				if found, err := pool.Tab(tab.ID()); err != nil || found != tab {
					t.Errorf("the pool finds %v, %v under the id", found, err)
				}
				if after.Info.URL != home || after.Snapshot.Revision <= before.Snapshot.Revision {
					t.Errorf("it is at %s in revision %d, after %d", after.Info.URL, after.Snapshot.Revision, before.Snapshot.Revision)
				}
				now := read(t, tab, actor.ReadOptions{}).Head
				if got, want := texts(now.Snapshot), "3:Pay 4:Email 5:Help"; got != want {
					t.Errorf("the elements are %s, want %s: refs go on above all that were given", got, want)
				}
				_, err := now.Element(0)
				actortest.WantKind(t, err, apierr.Stale)
				pages := 0
				for b.Page(pages+1) != nil {
					pages++
				}
				if place, _ := b.Page(pages).ScrollPosition(t.Context()); place.Y != 700 {
					t.Errorf("it is scrolled to %v", place)
				}
				if got, want := kinds(t, watch), "opened crashed restoring navigated restored"; got != want {
					t.Errorf("who watches was told %q, want %q", got, want)
				}
			})
		})
	}
}

// kinds returns the kinds of the events of a watch.
func kinds(t *testing.T, w *tabpool.Watch) string {
	t.Helper()
	names := map[actor.TabEventKind]string{
		actor.TabOpened: "opened", actor.TabClosed: "closed", actor.TabNavigated: "navigated", actor.TabCrashed: "crashed",
		actor.TabDialog: "dialog", actor.TabRestoring: "restoring", actor.TabRestored: "restored",
	}
	synctest.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var out []string
	for {
		e, err := w.Next(ctx)
		if err != nil {
			return strings.Join(out, " ")
		}
		out = append(out, names[e.Kind])
	}
}

func TestCallsOfATabThatIsAwayAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := restorable(t, tabpool.Config{})
		b.Page(0).Hang()
		inside := make(chan error, 1)
		go func() {
			_, err := tab.Read(t.Context(), actor.ReadOptions{})
			inside <- err
		}()
		synctest.Wait()
		waiting := make(chan error, 1)
		go func() {
			_, err := turn.Run(t.Context(), tab, turn.Turn{})
			waiting <- err
		}()
		synctest.Wait()
		start := time.Now()
		b.Break()
		actortest.WantKind(t, <-inside, apierr.Restoring)
		actortest.WantKind(t, <-waiting, apierr.Restoring)
		for name, call := range map[string]func() error{
			"read":     func() error { _, err := tab.Read(t.Context(), actor.ReadOptions{}); return err },
			"navigate": func() error { _, err := tab.Navigate(t.Context(), home, actor.WaitLoad); return err },
			"watch":    func() error { _, err := tab.Watch(t.Context(), actor.WatchOptions{}); return err },
			"dialog":   func() error { _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{}); return err },
		} {
			if e := actortest.WantKind(t, call(), apierr.Restoring); !strings.Contains(e.Message, "being restored") {
				t.Errorf("%s says %q", name, e.Message)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("being refused took %s", took)
		}
		b.Restart()
		until(t, tab, back)
	})
}

func TestTabThatLosesItsPageAgainAndAgainStaysCrashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := restorable(t, tabpool.Config{})
		start := time.Now()
		for i := range restore.Times {
			b.Page(0).Crash(fmt.Sprintf("crash %d", i))
			synctest.Wait()
			until(t, tab, back)
		}
		took := time.Since(start)
		if took < time.Second || took > time.Minute {
			t.Errorf("coming back %d times took %s: it is to wait longer and longer, and not for ever", restore.Times, took)
		}
		b.Page(0).Crash("the last one")
		h := until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusCrashed })
		if !strings.Contains(h.Info.Why, "3 times") || !strings.Contains(h.Info.Why, "the last one") {
			t.Errorf("it stays crashed because %q", h.Info.Why)
		}
		_, err := tab.Read(t.Context(), actor.ReadOptions{})
		if e := actortest.WantKind(t, err, apierr.Lost); !strings.Contains(e.Message, "Navigate") {
			t.Errorf("the message does not say what to do: %s", e.Message)
		}
		if info, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil || info.Why != "" {
			t.Errorf("after Navigate it is %+v, %v", info, err)
		}
		time.Sleep(restore.Window)
		b.Page(0).Crash("once more, much later")
		synctest.Wait()
		until(t, tab, back)
	})
}

func TestTabThatWasNotAskedToStaysAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, crashed := start(t, tabpool.Config{})
		gone, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home, Restore: true})
		if err != nil {
			t.Fatal(err)
		}
		if info := gone.SetRestore(false); info.Restore {
			t.Error("it is still to be restored")
		}
		synctest.Wait()
		b.Page(0).Crash("crashed")
		synctest.Wait()
		if got := crashed.Info().Status; got != actor.StatusCrashed {
			t.Errorf("the one whose renderer crashed is %s", got)
		}
		b.Break()
		<-gone.Done()
		actortest.WantKind(t, gone.Err(), apierr.Lost)
		b.Restart()
	})
}

func TestTabIsBroughtBackOnlyWhereItMayGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allowed := true
		var mu sync.Mutex
		b, _, tab := restorable(t, tabpool.Config{AllowURL: func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if allowed {
				return nil
			}
			return apierr.Errorf(apierr.Refused, "this URL is forbidden: choose another")
		}})
		mu.Lock()
		allowed = false
		mu.Unlock()
		b.Break()
		synctest.Wait()
		b.Restart()
		h := until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusCrashed })
		if !strings.Contains(h.Info.Why, "forbidden") || h.Info.URL != home {
			t.Errorf("it is at %s because %q", h.Info.URL, h.Info.Why)
		}
		if n := b.Page(1).Calls("Navigate"); n != 0 {
			t.Errorf("it went there %d times", n)
		}
	})
}

func TestWatchesOfATabThatIsAwayFindItsHeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := restorable(t, tabpool.Config{})
		release, err := tab.Watch(t.Context(), actor.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		b.Break()
		until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusRestoring })
		b.Restart()
		until(t, tab, back)
		b.Page(1).Update(add(actortest.Button("New")))
		until(t, tab, func(h *actor.Head) bool { return strings.Contains(texts(h.Snapshot), "New") })
	})
}

func TestDialogsOfAPageThatIsGoneAreNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := restorable(t, tabpool.Config{})
		b.Page(0).OpenDialog(driver.Dialog{Type: "confirm", Message: "Delete?"})
		first := until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog != nil }).Info.Dialog.ID
		b.Break()
		synctest.Wait()
		b.Restart()
		until(t, tab, back)
		b.Page(1).OpenDialog(driver.Dialog{Type: "confirm", Message: "Buy?"})
		second := until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog != nil }).Info.Dialog.ID
		if second <= first {
			t.Errorf("dialog %d follows dialog %d", second, first)
		}
		_, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{ID: first, Accept: true})
		actortest.WantKind(t, err, apierr.NoDialog)
		answered, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{ID: second, Accept: true})
		if err != nil || answered.ID != second {
			t.Errorf("answered %+v, %v", answered, err)
		}
	})
}

func TestAnotherPoolRestoresSavedTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := new(shelf)
		_, pool, tab := restorable(t, tabpool.Config{RestoreStore: kept})
		other, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home})
		if err != nil {
			t.Fatal(err)
		}
		last := read(t, tab, actor.ReadOptions{}).Head
		if _, ok := kept.get(other.ID()); ok {
			t.Error("a tab is kept that nobody asked to be restored")
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		k, ok := kept.get(tab.ID())
		if !ok {
			t.Fatal("the end of the pool has forgotten the tab")
		}

		b := actortest.NewBrowser()
		shop(b)
		again := newPool(t, b, tabpool.Config{RestoreStore: kept})
		if err := again.Restore(k); err != nil {
			t.Fatal(err)
		}
		actortest.WantKind(t, again.Restore(k), apierr.Exists)
		revived, err := again.Tab(tab.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := revived.Read(t.Context(), actor.ReadOptions{}); err != nil {
			actortest.WantKind(t, err, apierr.Restoring)
		}
		until(t, revived, back)
		now := read(t, revived, actor.ReadOptions{}).Head
		if now.Snapshot.Epoch == last.Snapshot.Epoch {
			t.Error("the epoch is the old one")
		}
		if got := now.Snapshot.Elements.Slice()[0].Ref; got < 3 {
			t.Errorf("ref %d is given again", got)
		}
		_, err = now.Element(1)
		actortest.WantKind(t, err, apierr.Stale)
		fresh, err := again.Open(t.Context(), tabpool.OpenOptions{URL: home})
		if err != nil || fresh.ID() == revived.ID() {
			t.Errorf("the next tab is %s, %v", fresh.ID(), err)
		}
		if err := again.CloseTab(t.Context(), revived.ID()); err != nil {
			t.Fatal(err)
		}
		if _, ok := kept.get(tab.ID()); ok {
			t.Error("a tab that was closed is still kept")
		}
	})
}

func TestTabThatEndsEachProcessIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := new(shelf)
		k := restore.Record{ID: "t7", Session: "default", URL: home, Refs: 10}
		process := func(life time.Duration) error {
			b := actortest.NewBrowser()
			shop(b)
			pool := newPool(t, b, tabpool.Config{RestoreStore: kept})
			if err := pool.Restore(k); err != nil {
				return err
			}
			tab, err := pool.Tab(k.ID)
			if err != nil {
				t.Fatal(err)
			}
			until(t, tab, back)
			time.Sleep(life)
			synctest.Wait()
			next, ok := kept.get(k.ID)
			if !ok || next.Refs <= k.Refs {
				t.Fatalf("kept %+v after %+v: refs could be given again", next, k)
			}
			k = next
			return pool.Close(t.Context())
		}
		for i := range restore.Times {
			if err := process(time.Second); err != nil {
				t.Fatalf("process %d: %v", i, err)
			}
		}
		actortest.WantKind(t, process(0), apierr.Exhausted)
		k.Restarts = restore.Times - 1
		if err := process(2 * restore.Window); err != nil {
			t.Fatal(err)
		}
		if k.Restarts != 0 {
			t.Errorf("a tab that was well for long has %d revivals", k.Restarts)
		}
	})
}

func TestTabsOfEveryNameComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		shop(b)
		pool := newPool(t, b, tabpool.Config{Opaque: func(string) bool { return true }})
		tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home})
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{tab.ID(), "t4", "b1-t9", "b1-" + tab.ID()} {
			if err := pool.Restore(restore.Record{ID: id, Session: "default", URL: home}); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

func TestRestoreRefusesWhatWasNoTab(t *testing.T) {
	_, pool, _ := start(t, tabpool.Config{})
	good := restore.Record{ID: "t7", Session: "default", URL: home}
	for _, spoil := range []func(*restore.Record){
		func(k *restore.Record) { k.ID = "" },
		func(k *restore.Record) { k.ID = "t0" },
		func(k *restore.Record) { k.ID = "t07" },
		func(k *restore.Record) { k.ID = "t99999999999999999999" },
		func(k *restore.Record) { k.ID = "../t7" },
		func(k *restore.Record) { k.ID = "-t7" },
		func(k *restore.Record) { k.URL = "" },
		func(k *restore.Record) {
			k.Place.Boxes = slices.Repeat([]driver.ScrolledBox{{}}, driver.MaxScrolledBoxes+1)
		},
	} {
		k := good
		spoil(&k)
		var e *apierr.Error
		if err := pool.Restore(k); !errors.As(err, &e) || e.Kind != apierr.Invalid {
			t.Errorf("%+v: %v", k, err)
		}
	}
}

func TestTabThatCannotComeBackEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := new(shelf)
		b, _, tab := restorable(t, tabpool.Config{RestoreStore: kept})
		b.FailOpen(apierr.Errorf(apierr.NotFound, "there is no session"))
		b.Break()
		synctest.Wait()
		b.Restart()
		<-tab.Done()
		actortest.WantKind(t, tab.Err(), apierr.Lost)
		synctest.Wait()
		if _, ok := kept.get(tab.ID()); ok {
			t.Error("it is still kept")
		}
	})
}

func TestPoolCloseEndsTabsThatAreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := restorable(t, tabpool.Config{})
		b.Break()
		synctest.Wait()
		if err := pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-tab.Done()
	})
}
