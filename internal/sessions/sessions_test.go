package sessions_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/sessions"
)

const shop = "https://shop.example/"

// inBubble runs a test on a fake browser. The bubble fails the test if goroutines remain at its end.
func inBubble(t *testing.T, test func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, pool *tabpool.Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		b.Serve(shop, func() actortest.Screen { return actortest.Screen{Title: "Shop"} })
		pool := tabpool.New(b, tabpool.Config{})
		s := sessions.New(pool, b, sessions.Config{Max: 4})
		test(t, s, b, pool)
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.Wait()
	})
}

func create(t *testing.T, s *sessions.Sessions, id string) sessions.Info {
	t.Helper()
	info, err := s.Create(t.Context(), id, sessions.Settings{}, sessions.State{})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// isKind checks that err is an *apierr.Error of a kind.
func isKind(t *testing.T, err error, kind apierr.ErrorKind) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("error is %v, want an *Error of kind %d", err, kind)
	}
}

func TestSessionsAreListedAndLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, _ *actortest.Browser, _ *tabpool.Pool) {
		create(t, s, "s1")
		if made := create(t, s, ""); made.ID != "s2" {
			t.Errorf("the name that was made is %q", made.ID)
		}
		_, err := s.Create(t.Context(), "s1", sessions.Settings{}, sessions.State{})
		isKind(t, err, apierr.Exists)
		create(t, s, "work")
		_, err = s.Create(t.Context(), "more", sessions.Settings{}, sessions.State{})
		isKind(t, err, apierr.Exhausted)
		var names []string
		for _, info := range s.List() {
			names = append(names, info.ID)
		}
		if got, want := len(names), 4; got != want || names[0] != sessions.Default || names[3] != "work" {
			t.Errorf("listed %q", names)
		}
		if err := s.Close(t.Context(), "s1", false); err != nil {
			t.Fatal(err)
		}
		create(t, s, "more")
	})
}

func TestTabsAndPopupsBelongToASession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, pool *tabpool.Pool) {
		create(t, s, "work")
		tab, err := s.Open(t.Context(), tabpool.OpenOptions{Session: "work", URL: shop})
		if err != nil {
			t.Fatal(err)
		}
		b.Page(0).Open(shop)
		synctest.Wait()
		tabs := pool.Tabs()
		if len(tabs) != 2 || tabs[1].Session() != "work" || tabs[1].Info().Session != "work" || tabs[1].Info().Opener != tab.ID() {
			t.Fatalf("the tabs are %v", tabs)
		}
		_, err = s.Open(t.Context(), tabpool.OpenOptions{Session: "nowhere"})
		isKind(t, err, apierr.NotFound)
		if n := s.List()[1].Tabs; n != 2 {
			t.Errorf("the session has %d tabs", n)
		}
		// Closing one session ends its calls and tabs with a reason and does not affect other sessions.
		other, err := s.Open(t.Context(), tabpool.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watch := pool.WatchSession("work")
		defer watch.Stop()
		if err := s.Close(t.Context(), "work", false); err != nil {
			t.Fatal(err)
		}
		for _, ended := range tabs {
			if ended.Err() != nil || ended.Info().Status != actor.StatusClosed {
				t.Errorf("tab %s: %v, %v", ended.ID(), ended.Err(), ended.Info().Status)
			}
			_, err := ended.Navigate(t.Context(), shop, actor.WaitLoad)
			isKind(t, err, apierr.Closed)
		}
		if other.Info().Status == actor.StatusClosed || !b.Context("work").Closed() {
			t.Error("the wrong session was closed")
		}
		for err = nil; err == nil; {
			_, err = watch.Next(t.Context())
		}
		isKind(t, err, apierr.NotFound)
	})
}

func TestTheDefaultSessionCannotBeClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, _ *actortest.Browser, _ *tabpool.Pool) {
		isKind(t, s.Close(t.Context(), sessions.Default, false), apierr.Invalid)
		isKind(t, s.Close(t.Context(), "nowhere", false), apierr.NotFound)
	})
}

func TestPasswordsAreNotReported(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, _ *tabpool.Pool) {
		secret := sessions.Settings{Credentials: &sessions.Credentials{Username: "ada", Password: "lovelace"}}
		info, err := s.Update(t.Context(), "", secret)
		if err != nil || info.Settings.Credentials.Password != "" || info.Settings.Credentials.Username != "ada" {
			t.Errorf("%+v, %v", info.Settings.Credentials, err)
		}
		if given := b.Context(sessions.Default).Settings(); given[len(given)-1].Credentials.Password != "lovelace" {
			t.Error("the browser does not know the password")
		}
	})
}

// A failed change leaves the settings unchanged, even if it failed because its caller's context ended.
func TestAChangeThatFailsChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, _ *tabpool.Pool) {
		create(t, s, "work")
		side := b.Context("work")
		side.Fail(errors.New("no"))
		if _, err := s.Update(t.Context(), "work", sessions.Settings{DenyDownloads: true}); err == nil {
			t.Error("no error")
		}
		side.Fail(nil)
		release := side.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := s.Update(ctx, "work", sessions.Settings{DenyDownloads: true})
			first <- err
		}()
		synctest.Wait()
		second := make(chan error, 1)
		go func() { second <- s.SetState(ctx, "work", sessions.State{}, true) }() // blocked by the first change
		synctest.Wait()
		cancel()
		for _, ch := range []chan error{first, second} {
			if err := <-ch; !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
		}
		release()
		if s.List()[1].Settings.DenyDownloads {
			t.Error("the settings were changed")
		}
		if err := s.SetState(t.Context(), "work", sessions.State{}, false); err != nil {
			t.Error(err)
		}
	})
}

// Calls in progress end with the reason when a session is closed. Closing continues if its caller stops waiting.
func TestCloseEndsRunningCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, pool *tabpool.Pool) {
		b.Serve("https://slow.example/", func() actortest.Screen { return actortest.Screen{Hold: true} })
		create(t, s, "work")
		release := b.Context("work").Hold()
		calls := make(chan error, 2)
		go func() {
			_, err := s.Open(t.Context(), tabpool.OpenOptions{Session: "work", URL: "https://slow.example/"})
			calls <- err
		}()
		go func() {
			_, err := s.State(t.Context(), "work", sessions.StateOptions{})
			calls <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan error, 1)
		go func() { closed <- s.Close(ctx, "work", false) }()
		for range 2 {
			isKind(t, <-calls, apierr.Closed)
		}
		synctest.Wait() // the browser's operation is still running
		_, err := s.Open(t.Context(), tabpool.OpenOptions{Session: "work"})
		isKind(t, err, apierr.NotFound)
		_, err = s.Create(t.Context(), "work", sessions.Settings{}, sessions.State{})
		isKind(t, err, apierr.Exists)
		cancel()
		if err := <-closed; !errors.Is(err, context.Canceled) {
			t.Errorf("closing ended with %v", err)
		}
		release()
		s.Wait()
		if !b.Context("work").Closed() || len(s.List()) != 1 || len(pool.Tabs()) != 0 {
			t.Error("the session was not closed to the end")
		}
		create(t, s, "work")
	})
}

// No session remains if the browser refuses the state.
func TestAFailedCreationLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, _ *tabpool.Pool) {
		b.FailOpen(errors.New("no"))
		if _, err := s.Create(t.Context(), "work", sessions.Settings{}, sessions.State{}); err == nil {
			t.Error("no error")
		}
		b.FailOpen(nil)
		create(t, s, "work")
		if n := len(s.List()); n != 2 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestPermissionsAreDeniedByDefault(t *testing.T) {
	granted, denied := sessions.Settings{Permissions: []string{"midi"}, Emulation: sessions.Emulation{Location: &sessions.Location{}}}.Decide()
	if len(granted) != 2 || granted[1] != "geolocation" {
		t.Errorf("granted %q", granted)
	}
	for _, name := range denied {
		if name == "midi" || name == "geolocation" {
			t.Errorf("%s is denied", name)
		}
	}
	if len(denied) < 10 {
		t.Errorf("denied %q", denied)
	}
}

func TestSettingsOverrideTheDevice(t *testing.T) {
	no := false
	look := sessions.Emulation{Device: "Pixel 8", Width: 100, Height: 50, Touch: &no, UserAgent: "x"}.Resolve()
	if look.Width != 100 || look.Height != 50 || look.Touch || !look.Mobile || look.Scale != 2.625 || look.UserAgent != "x" {
		t.Errorf("%+v", look)
	}
	if plain := (sessions.Emulation{}).Resolve(); plain.Width != 0 || plain.Scale != 0 || plain.UserAgent != "" {
		t.Errorf("%+v", plain)
	}
}

// If the browser creates a session after its caller has left, the session counts until it is removed, for a limited time.
func TestALeftoverSessionKeepsItsPlace(t *testing.T) {
	inBubble(t, func(t *testing.T, s *sessions.Sessions, b *actortest.Browser, _ *tabpool.Pool) {
		{
			removed := make(chan struct{})
			b.FailOpen(&driver.NotCreatedError{Err: context.Canceled, Removed: removed})
			if _, err := s.Create(t.Context(), "work", sessions.Settings{}, sessions.State{}); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
			b.FailOpen(nil)
			_, err := s.Create(t.Context(), "work", sessions.Settings{}, sessions.State{})
			isKind(t, err, apierr.Exists)
			close(removed)
			synctest.Wait()
			create(t, s, "work")
			if err := s.Close(t.Context(), "work", false); err != nil {
				t.Error(err)
			}
		}
		b.FailOpen(&driver.NotCreatedError{Err: context.Canceled, Removed: make(chan struct{})})
		if _, err := s.Create(t.Context(), "work", sessions.Settings{}, sessions.State{}); err == nil {
			t.Error("it was made")
		}
		b.FailOpen(nil)
		s.Wait() // does not wait forever
		create(t, s, "work")
	})
}

// leaving is a browser whose callers leave just after it has created a context.
type leaving struct {
	*actortest.Browser
	leave func()
}

func (l leaving) NewContext(ctx context.Context, name string, s sessions.Settings) (sessions.Context, error) {
	defer l.leave()
	return l.Browser.NewContext(ctx, name, s)
}

// A session is closed if its client left before it was complete.
func TestASessionWhoseClientHasLeftIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *sessions.Sessions, b *actortest.Browser, pool *tabpool.Pool) {
		ctx, leave := context.WithCancel(t.Context())
		s := sessions.New(pool, leaving{b, leave}, sessions.Config{})
		if _, err := s.Create(ctx, "work", sessions.Settings{}, sessions.State{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		s.Wait()
		if all, open := s.List(), b.Open(); len(all) != 1 || len(open) != 1 {
			t.Errorf("there are the sessions %v, and the contexts %v", all, open)
		}
	})
}
