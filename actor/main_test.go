package actor_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
)

// TestMain fails the run if a test leaks a goroutine of the package.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := actortest.Goroutines(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

const home = "https://shop.example/"

// shop serves a page with two buttons and a field.
func shop(b *actortest.Browser) {
	b.Serve(home, func() actortest.Screen {
		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{
			actortest.Button("Pay"), actortest.Textbox("Email", ""), actortest.Link("Help", home+"help"),
		}}
	})
	b.Serve(home+"help", func() actortest.Screen {
		return actortest.Screen{Title: "Help", Body: []*actortest.Node{actortest.Link("Back", home)}}
	})
}

// start creates a pool with a tab that shows the shop. The pool is closed at the end of the test, and the page's rules must not have been
// broken.
func start(t *testing.T, cfg tabpool.Config) (*actortest.Browser, *tabpool.Pool, *actor.Tab) {
	t.Helper()
	b := actortest.NewBrowser()
	shop(b)
	pool := newPool(t, b, cfg)
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home})
	if err != nil {
		t.Fatal(err)
	}
	return b, pool, tab
}

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

func read(t *testing.T, tab *actor.Tab, o actor.ReadOptions) actor.Reading {
	t.Helper()
	r, err := tab.Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts formats the elements as ref:text.
func texts(s *dom.Snapshot) string {
	var out []string
	for _, el := range s.Elements.Slice() {
		out = append(out, fmt.Sprintf("%d:%s", el.Ref, el.Text))
	}
	return strings.Join(out, " ")
}

func add(n ...*actortest.Node) func(*actortest.Frame) {
	return func(f *actortest.Frame) { f.Body = append(f.Body, n...) }
}

func next(t *testing.T, w *tabpool.Watch) actor.TabEvent {
	t.Helper()
	e, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// until waits for a head that satisfies the condition.
func until(t *testing.T, tab *actor.Tab, ok func(*actor.Head) bool) *actor.Head {
	t.Helper()
	for {
		h := tab.Head()
		if ok(h) {
			return h
		}
		select {
		case <-h.Next():
			if h.Info.Status == actor.StatusClosed {
				t.Fatalf("the tab ended at %+v", h.Info)
			}
		case <-t.Context().Done():
			t.Fatal("the test is over")
		}
	}
}
