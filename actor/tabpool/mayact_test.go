package tabpool_test

import (
	"strings"
	"sync/atomic"
	"testing"
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

func TestNothingActsThatMayNot(t *testing.T) {
	const shop, other = "https://shop.example/", "https://other.example/"
	b := actortest.NewBrowser()
	for _, url := range []string{shop, other} {
		b.Serve(url, func() actortest.Screen { return actortest.Screen{Body: []*actortest.Node{actortest.Button("Buy")}} })
	}
	var over atomic.Bool
	pool := newPool(t, b, tabpool.Config{MayAct: func(session string) error {
		if over.Load() && session == "default" {
			return apierr.Errorf(apierr.Lost, "the lease is over")
		}
		return nil
	}})
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: shop})
	if err != nil {
		t.Fatal(err)
	}
	over.Store(true)
	_, err = tab.Navigate(t.Context(), other, actor.WaitLoad)
	actortest.WantKind(t, err, apierr.Lost)
	if _, err := tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
		t.Errorf("a read: %v", err)
	}
	over.Store(false)
	if _, err := tab.Navigate(t.Context(), other, actor.WaitLoad); err != nil {
		t.Errorf("once it may act again: %v", err)
	}
}

// A lease that ends during a turn ends the turn there, and the error reports what was done.
func TestATurnEndsWithTheLease(t *testing.T) {
	const shop = "https://shop.example/"
	var over atomic.Bool
	b := actortest.NewBrowser()
	first := actortest.Button("Buy")
	first.Act = func(*actortest.Page, driver.Action) error {
		over.Store(true)
		return nil
	}
	b.Serve(shop, func() actortest.Screen {
		return actortest.Screen{Body: []*actortest.Node{first, actortest.Button("Pay")}}
	})
	pool := newPool(t, b, tabpool.Config{MayAct: func(string) error {
		if over.Load() {
			return apierr.Errorf(apierr.Fenced, "the lease is over")
		}
		return nil
	}})
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: shop})
	if err != nil {
		t.Fatal(err)
	}
	click := func(ref dom.Ref) turn.Step {
		return turn.Step{Action: driver.Action{Kind: driver.Click, Location: driver.At(ref)}}
	}
	read, err := tab.Read(t.Context(), actor.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	buttons := read.Head.Snapshot.Elements.Slice()
	_, err = turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(buttons[0].Ref), click(buttons[1].Ref)}})
	actortest.WantKind(t, err, apierr.Fenced)
	if want := `the lease is over; done before: click "Buy": ok; possibly done in part: click`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v, and not %s", err, want)
	}
	if done := b.Page(0).Actions(); len(done) != 1 {
		t.Errorf("the page got %+v", done)
	}
}

// recordChannel sends the Records that it receives.
type recordChannel chan restore.Record

func (k recordChannel) Keep(r restore.Record) { k <- r }
func (recordChannel) Forget(string)           {}

func TestAKeeperMayGetAllTabs(t *testing.T) {
	b := actortest.NewBrowser()
	b.Serve("https://shop.example/", func() actortest.Screen { return actortest.Screen{Body: []*actortest.Node{actortest.Button("Buy")}} })
	kept := make(recordChannel, 100)
	pool := newPool(t, b, tabpool.Config{RestoreStore: kept, KeepAll: true})
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: "https://shop.example/"})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-kept:
		if r.ID != tab.ID() || r.Refs == 0 {
			t.Errorf("kept %+v", r)
		}
	case <-time.After(10 * time.Second):
		t.Error("the tab is not kept")
	}
}
