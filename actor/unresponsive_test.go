package actor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

func TestAHangingPageIsReportedAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		page.Hang()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := tab.Read(ctx, actor.ReadOptions{})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "t1") {
			t.Errorf("error is %v", err)
		}
		if d := time.Since(begin); d != 50*time.Millisecond {
			t.Errorf("the answer came after %v", d)
		}
		if s := tab.Info().Status; s != actor.StatusReady {
			t.Errorf("status is %v before the page had its chance", s)
		}
		<-tab.Head().Next()
		if s := tab.Info().Status; s != actor.StatusUnresponsive || time.Since(begin) != 2050*time.Millisecond {
			t.Errorf("status is %v after %v", s, time.Since(begin))
		}
		next := tab.Head().Next()
		time.AfterFunc(100*time.Second, page.Resume)
		<-next
		if s := tab.Info().Status; s != actor.StatusReady {
			t.Errorf("status is %v after the page answered", s)
		}
		read(t, tab, actor.ReadOptions{})
	})
}

func TestNavigateEndsTheScriptOfAnUnresponsivePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := capture.Screenshot(ctx, tab, driver.ScreenshotOptions{Format: "png"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusUnresponsive })
		if _, err := tab.Navigate(t.Context(), home+"help", actor.WaitLoad); err != nil {
			t.Fatal(err)
		}
		if n := b.Page(0).Calls("Interrupt"); n != 1 {
			t.Errorf("%d interrupts", n)
		}
		if s := tab.Info().Status; s != actor.StatusReady {
			t.Errorf("status is %v", s)
		}
	})
}

func TestCallsOfATabWaitTheirTurnAndLeaveOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{Mailbox: 2})
		page := b.Page(0)
		page.Hang()
		errs := make(chan error, 3)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := tab.Read(ctx, actor.ReadOptions{})
			errs <- err
		}()
		synctest.Wait()
		for range 2 {
			go func() {
				_, err := capture.Screenshot(ctx, tab, driver.ScreenshotOptions{})
				errs <- err
			}()
			synctest.Wait()
		}
		_, err := tab.Read(t.Context(), actor.ReadOptions{})
		actortest.WantKind(t, err, apierr.Exhausted)
		if tab.Info().URL != home || tab.Head() == nil || len(tab.History()) != 1 {
			t.Error("Info, Head or History do not answer")
		}
		cancel()
		for range 3 {
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
		}
		synctest.Wait()
		page.Resume()
		read(t, tab, actor.ReadOptions{})
		if reads, shots := page.Calls("Read"), page.Calls("Screenshot"); reads != 2 || shots != 0 {
			t.Errorf("the page was read %d times and drawn %d times: a call whose caller has left was not skipped", reads, shots)
		}
	})
}

func TestAPageThatNeverLoadsEndsInADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{NavigationTimeout: 7 * time.Second})
		b.Serve(home+"stall", func() actortest.Screen {
			return actortest.Screen{Stall: true, Body: []*actortest.Node{actortest.Button("Half")}}
		})
		b.Serve(home+"hold", func() actortest.Screen { return actortest.Screen{Hold: true} })
		for _, url := range []string{home + "stall", home + "hold"} {
			begin := time.Now()
			_, err := tab.Navigate(t.Context(), url, actor.WaitLoad)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 7*time.Second {
				t.Errorf("%s: error is %v after %v", url, err, time.Since(begin))
			}
			begin = time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err = tab.Navigate(ctx, url, actor.WaitLoad)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
				t.Errorf("%s, a minute: error is %v after %v", url, err, time.Since(begin))
			}
		}
		if got := texts(read(t, tab, actor.ReadOptions{}).Head.Snapshot); got != "0:Half" && !strings.HasSuffix(got, ":Half") {
			t.Errorf("the half loaded page shows %s", got)
		}
		if s := tab.Info().Status; s != actor.StatusLoading {
			t.Errorf("status is %v", s)
		}
		_, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home + "stall"})
		if !errors.Is(err, context.DeadlineExceeded) || len(pool.Tabs()) != 1 {
			t.Errorf("error is %v with %d tabs", err, len(pool.Tabs()))
		}
		<-b.Page(1).Closed()
		if _, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil {
			t.Error(err)
		}
	})
}

func TestClosingWorksOnAHangingPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		errs := make(chan error)
		go func() {
			_, err := tab.Read(t.Context(), actor.ReadOptions{})
			errs <- err
		}()
		synctest.Wait()
		if err := pool.CloseTab(t.Context(), "t1"); err != nil {
			t.Fatal(err)
		}
		actortest.WantKind(t, <-errs, apierr.Closed)
		<-tab.Done()
		<-tab.Head().Next()
		if tab.Err() != nil || tab.Info().Status != actor.StatusClosed {
			t.Errorf("the tab ended with %v, %v", tab.Err(), tab.Info().Status)
		}
		if _, err := pool.Tab("t1"); err == nil {
			t.Error("the tab is still listed")
		}
		_, err := tab.Read(t.Context(), actor.ReadOptions{})
		actortest.WantKind(t, err, apierr.Closed)
		actortest.WantKind(t, pool.CloseTab(t.Context(), "t1"), apierr.NotFound)
	})
}

func TestACrashEndsCallsAndIsLeftByNavigation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		before := read(t, tab, actor.ReadOptions{}).Head
		page := b.Page(0)
		page.Hang()
		errs := make(chan error)
		go func() {
			_, err := tab.Read(t.Context(), actor.ReadOptions{})
			errs <- err
		}()
		synctest.Wait()
		page.Crash("oom")
		actortest.WantKind(t, <-errs, apierr.Lost)
		if s := tab.Info().Status; s != actor.StatusCrashed {
			t.Errorf("status is %v", s)
		}
		for name, call := range map[string]func() error{
			"Read":       func() error { _, err := tab.Read(t.Context(), actor.ReadOptions{}); return err },
			"Act":        func() error { _, err := turn.Run(t.Context(), tab, turn.Turn{}); return err },
			"Watch":      func() error { _, err := tab.Watch(t.Context(), actor.WatchOptions{}); return err },
			"Screenshot": func() error { _, err := capture.Screenshot(t.Context(), tab, driver.ScreenshotOptions{}); return err },
		} {
			if err := call(); err == nil {
				t.Errorf("%s works on a crashed page", name)
			} else {
				actortest.WantKind(t, err, apierr.Lost)
			}
		}
		info, err := tab.Reload(t.Context(), actor.WaitLoad)
		if err != nil {
			t.Fatal(err)
		}
		after := read(t, tab, actor.ReadOptions{}).Head
		if info.Status != actor.StatusReady || after.Info.Epoch == before.Info.Epoch || after.Info.Revision <= before.Info.Revision {
			t.Errorf("after the crash %+v, before %+v", after.Info, before.Info)
		}
		if got := texts(after.Snapshot); got != "3:Pay 4:Email 5:Help" {
			t.Errorf("refs are used again: %s", got)
		}
	})
}

// Calls that navigate do not wait for reads that the page does not answer. These reads end.
func TestNavigatingDoesNotWaitForReadsOfAHangingPage(t *testing.T) {
	for name, leave := range map[string]func(context.Context, *actor.Tab) error{
		"Navigate": func(ctx context.Context, tab *actor.Tab) error {
			_, err := tab.Navigate(ctx, home+"help", actor.WaitLoad)
			return err
		},
		"Reload": func(ctx context.Context, tab *actor.Tab) error { _, err := tab.Reload(ctx, actor.WaitLoad); return err },
		"Back":   func(ctx context.Context, tab *actor.Tab) error { _, err := tab.Back(ctx, actor.WaitLoad); return err },
		"Act": func(ctx context.Context, tab *actor.Tab) error {
			_, err := turn.Run(ctx, tab, turn.Turn{URL: home + "help"})
			return err
		},
	} {
		for _, late := range []time.Duration{0, 10 * time.Second} {
			t.Run(name+" after "+late.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b, _, tab := start(t, tabpool.Config{})
					if _, err := tab.Navigate(t.Context(), home+"help", actor.WaitLoad); err != nil {
						t.Fatal(err)
					}
					b.Page(0).Hang()
					asks := []func() error{
						func() error { _, err := tab.Read(t.Context(), actor.ReadOptions{}); return err },
						func() error { _, err := query.Markup(t.Context(), tab, dom.NoRef); return err },
						func() error { _, err := capture.Screenshot(t.Context(), tab, driver.ScreenshotOptions{}); return err },
						func() error { _, err := tab.Watch(t.Context(), actor.WatchOptions{}); return err },
						func() error { _, err := turn.Run(t.Context(), tab, turn.Turn{}); return err },
					}
					errs := make(chan error, len(asks))
					for _, ask := range asks {
						go func() { errs <- ask() }()
						synctest.Wait()
					}
					time.Sleep(late)
					begin := time.Now()
					if err := leave(t.Context(), tab); err != nil {
						t.Error(err)
					}
					if took := time.Since(begin); took > 3*time.Second {
						t.Errorf("it took %v", took)
					}
					for range asks {
						actortest.WantKind(t, <-errs, apierr.Aborted)
					}
					read(t, tab, actor.ReadOptions{})
				})
			})
		}
	}
}

// A read that the page leaves unanswered ends, however much time its caller has.
func TestAReadOfAHangingPageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		begin := time.Now()
		next := tab.Head().Next()
		go func() {
			<-next
			if s := tab.Info().Status; s != actor.StatusUnresponsive || time.Since(begin) != 3*time.Second {
				t.Errorf("status is %v after %v", s, time.Since(begin))
			}
		}()
		if _, err := tab.Read(t.Context(), actor.ReadOptions{}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "navigate elsewhere") {
			t.Errorf("error is %v", err)
		}
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A read of a page that is known to hang fails with an error after 5 s. Previously, a model that read the page after an action that made it
// hang waited for 30 s. A page that answers within the 5 s is read.
func TestAReadOfAPageThatIsKnownToHangEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tab.Read(ctx, actor.ReadOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusUnresponsive })
		begin := time.Now()
		if _, err := tab.Read(t.Context(), actor.ReadOptions{}); !apierr.Is(err, apierr.Unanswered) || !strings.Contains(err.Error(), "t1 does not answer") {
			t.Errorf("error is %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		time.AfterFunc(4*time.Second, b.Page(0).Resume)
		read(t, tab, actor.ReadOptions{})
	})
}

func TestAPDFMayTakeLongerThanAQueryOfThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		page.Hang()
		time.AfterFunc(40*time.Second, page.Resume)
		if text, err := query.PDF(t.Context(), tab, []byte("text")); err != nil || string(text) != "text" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}
