package sessions_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/sessions"
)

// withIdle runs a test with the closing of idle sessions enabled.
func withIdle(t *testing.T, idle sessions.Idle, test func(t *testing.T, s *sessions.Sessions, pool *tabpool.Pool)) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, _ *actortest.Browser, pool *tabpool.Pool) {
		ctx, cancel := context.WithCancel(t.Context())
		var closing sync.WaitGroup
		closing.Go(func() { s.CloseIdle(ctx, idle) })
		defer closing.Wait()
		defer cancel()
		test(t, s, pool)
	})
}

func open(t *testing.T, s *sessions.Sessions, session string) *actor.Tab {
	t.Helper()
	tab, err := s.Open(t.Context(), tabpool.OpenOptions{URL: shop, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestIdleTabIsFrozenUntilItIsUsed(t *testing.T) {
	withIdle(t, sessions.Idle{Freeze: time.Hour, Tab: 10 * time.Hour}, func(t *testing.T, s *sessions.Sessions, pool *tabpool.Pool) {
		tab := open(t, s, "")
		after := func(d time.Duration, frozen bool) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if tab.Info().Frozen != frozen {
				t.Errorf("the page is frozen: %t, want %t", tab.Info().Frozen, frozen)
			}
		}
		after(59*time.Minute, false)
		after(time.Minute, true)
		call, end := context.WithCancel(t.Context())
		if _, err := pool.Use(call, tab.ID()); err != nil {
			t.Fatal(err)
		}
		after(0, false)
		after(3*time.Hour, false) // a long call or stream
		end()
		after(59*time.Minute, false)
		after(time.Minute, true)
		after(8*time.Hour, true)
		time.Sleep(time.Hour)
		synctest.Wait()
		if tab.Info().Status != actor.StatusClosed {
			t.Error("a frozen tab is not closed as idle")
		}
	})
}

func TestIdleTabIsClosedWithAReason(t *testing.T) {
	withIdle(t, sessions.Idle{Tab: time.Hour}, func(t *testing.T, s *sessions.Sessions, pool *tabpool.Pool) {
		idle, used := open(t, s, ""), open(t, s, "")
		watch := pool.Watch()
		defer watch.Stop()
		call, end := context.WithCancel(t.Context())
		if _, err := pool.Use(call, used.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case <-idle.Done():
		default:
			t.Fatal("the idle tab is open")
		}
		var e actor.TabEvent
		for e.Kind != actor.TabClosed {
			var err error
			if e, err = watch.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if e.Info.ID != idle.ID() || e.Reason != "idle" {
			t.Errorf("told of %+v", e)
		}
		time.Sleep(5 * time.Hour) // a long call or stream
		synctest.Wait()
		if used.Err() != nil || used.Info().Status == actor.StatusClosed {
			t.Fatal("a tab in use was closed")
		}
		end()
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if used.Info().Status == actor.StatusClosed {
			t.Error("the time does not count from the end of the call")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if used.Info().Status != actor.StatusClosed {
			t.Error("the tab is open")
		}
	})
}

// TestCallAtExpiryKeepsTheTabOrFails makes calls at the moment of expiry, in any order. No call may get a closed tab.
func TestCallAtExpiryKeepsTheTabOrFails(t *testing.T) {
	kept, told := 0, 0
	for range 50 {
		withIdle(t, sessions.Idle{Tab: time.Hour}, func(t *testing.T, s *sessions.Sessions, pool *tabpool.Pool) {
			tab := open(t, s, "")
			time.Sleep(time.Hour) // both are due now
			call, end := context.WithCancel(t.Context())
			defer end()
			_, err := pool.Use(call, tab.ID())
			synctest.Wait()
			closed := tab.Info().Status == actor.StatusClosed
			var e *apierr.Error
			switch {
			case err == nil && !closed:
				kept++
			case errors.As(err, &e) && e.Kind == apierr.NotFound && closed:
				told++
			default:
				t.Errorf("the call got %v, and the tab is closed: %v", err, closed)
			}
		})
	}
	t.Logf("%d calls kept their tab, %d were told", kept, told)
}

func TestIdleSessionIsClosedWithItsTabs(t *testing.T) {
	withIdle(t, sessions.Idle{Session: time.Hour}, func(t *testing.T, s *sessions.Sessions, pool *tabpool.Pool) {
		create(t, s, "busy")
		create(t, s, "idle")
		standard, busy, idle := open(t, s, ""), open(t, s, "busy"), open(t, s, "idle")
		time.Sleep(40 * time.Minute)
		call, end := context.WithCancel(t.Context())
		if _, err := pool.Use(call, busy.ID()); err != nil { // a use of any tab counts as a use of the session
			t.Fatal(err)
		}
		end()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if idle.Info().Status != actor.StatusClosed || s.Has("idle") == nil {
			t.Error("the idle session is there")
		}
		if busy.Info().Status == actor.StatusClosed || s.Has("busy") != nil || standard.Info().Status == actor.StatusClosed {
			t.Error("a session in use, or the default one, was closed")
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if s.Has("busy") == nil || standard.Info().Status == actor.StatusClosed {
			t.Error("not the one that is idle by now was closed")
		}
		isKind(t, s.Has("idle"), apierr.NotFound)
	})
}

func TestATabThatIsOpenedKeepsItsSession(t *testing.T) {
	withIdle(t, sessions.Idle{Session: time.Hour}, func(t *testing.T, s *sessions.Sessions, _ *tabpool.Pool) {
		create(t, s, "one")
		time.Sleep(59 * time.Minute)
		open(t, s, "one")
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if err := s.Has("one"); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingIsClosedUnlessItIsAskedFor(t *testing.T) {
	withIdle(t, sessions.Idle{}, func(t *testing.T, s *sessions.Sessions, _ *tabpool.Pool) {
		create(t, s, "one")
		tab := open(t, s, "one")
		time.Sleep(1000 * time.Hour)
		if tab.Info().Status == actor.StatusClosed || s.Has("one") != nil {
			t.Error("something was closed")
		}
	})
}
