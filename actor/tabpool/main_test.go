package tabpool_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
)

// TestMain fails the run if a test leaks a goroutine.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := actortest.Goroutines(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

const home = "https://shop.example/"

// start creates a pool with a tab that shows a page with a button.
func start(t *testing.T, cfg tabpool.Config) (*actortest.Browser, *tabpool.Pool, *actor.Tab) {
	t.Helper()
	b := actortest.NewBrowser()
	for _, url := range []string{home, home + "help"} {
		b.Serve(url, func() actortest.Screen {
			return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Pay")}}
		})
	}
	pool := newPool(t, b, cfg)
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home})
	if err != nil {
		t.Fatal(err)
	}
	return b, pool, tab
}

// newPool creates a pool that is closed at the end of the test.
func newPool(t *testing.T, b *actortest.Browser, cfg tabpool.Config) *tabpool.Pool {
	t.Helper()
	pool := tabpool.New(b, cfg)
	t.Cleanup(func() {
		if err := pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
		b.CheckPages(t)
	})
	return pool
}

// until waits for a head that satisfies the condition.
func until(t *testing.T, tab *actor.Tab, ok func(*actor.Head) bool) {
	t.Helper()
	for h := tab.Head(); !ok(h); h = tab.Head() {
		select {
		case <-h.Next():
		case <-t.Context().Done():
			t.Fatal("the test is over")
		}
	}
}
