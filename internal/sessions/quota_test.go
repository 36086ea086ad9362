package sessions_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/sessions"
)

// TestAClientLeavesRoomForOthers lets one client use all that it can. It is stopped at its quota of sessions and tabs, including windows.
// Other clients are not affected, and the client may reuse what it released.
func TestAClientLeavesRoomForOthers(t *testing.T) {
	quota := func(most int) func(string) (string, int) {
		return func(session string) (string, int) {
			client, _, found := strings.Cut(session, ".")
			if !found {
				return "", 0
			}
			return client, most
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		b.Serve(shop, func() actortest.Screen { return actortest.Screen{Title: "Shop"} })
		pool := tabpool.New(b, tabpool.Config{MaxTabs: 6, Quota: quota(3)})
		s := sessions.New(pool, b, sessions.Config{Max: 6, Quota: quota(2)})
		defer func() {
			if err := pool.Close(t.Context()); err != nil {
				t.Error(err)
			}
			s.Wait()
		}()
		open := func(session string) (*actor.Tab, error) {
			return s.Open(t.Context(), tabpool.OpenOptions{Session: session})
		}
		create(t, s, "ann.one")
		create(t, s, "ann.two")
		_, err := s.Create(t.Context(), "ann.three", sessions.Settings{}, sessions.State{})
		isQuota(t, err, "ann", "sessions_per_client")
		create(t, s, "bob.one")
		create(t, s, "operators")

		first, err := open("ann.one")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.Open(t.Context(), tabpool.OpenOptions{Session: "ann.one", URL: "https://nowhere.example/"}); err == nil {
				t.Error("a page that is not there was opened")
			}
		}
		b.Page(0).Open(shop) // a window
		synctest.Wait()
		if _, err := open("ann.two"); err != nil {
			t.Fatal(err)
		}
		_, err = open("ann.one")
		isQuota(t, err, "ann", "tabs_per_client")
		over := b.Page(0).Open(shop)
		<-over.Closed()

		for _, session := range []string{"bob.one", "operators", "operators"} {
			if _, err := open(session); err != nil {
				t.Errorf("in session %s: %v", session, err)
			}
		}
		_, err = open("bob.one")
		isKind(t, err, apierr.Exhausted) // the global limit is reached

		if err := pool.CloseTab(t.Context(), first.ID()); err != nil {
			t.Fatal(err)
		}
		if _, err := open("ann.two"); err != nil {
			t.Errorf("with one tab less: %v", err)
		}
		if err := s.Close(t.Context(), "ann.two", false); err != nil {
			t.Fatal(err)
		}
		create(t, s, "ann.three")
	})
}

// isQuota checks that an error names the client and its limit.
func isQuota(t *testing.T, err error, client, limit string) {
	t.Helper()
	isKind(t, err, apierr.Exhausted)
	var e *apierr.Error
	if !errors.As(err, &e) || e.Client != client || e.Detail["limit"] != limit {
		t.Errorf("error is %v, want %s of %s", err, limit, client)
	}
}
