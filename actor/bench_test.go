package actor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
)

// largePage opens a tab with a page of 2,000 buttons.
func largePage(b *testing.B) (*actortest.Page, *actor.Tab) {
	b.Helper()
	browser := actortest.NewBrowser()
	browser.Serve(home, func() actortest.Screen {
		var body []*actortest.Node
		for i := range 2000 {
			body = append(body, actortest.Button(fmt.Sprint("Button ", i)))
		}
		return actortest.Screen{Title: "Large", Body: body}
	})
	pool := tabpool.New(browser, tabpool.Config{})
	b.Cleanup(func() {
		if err := pool.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	tab, err := pool.Open(b.Context(), tabpool.OpenOptions{URL: home})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tab.Read(b.Context(), actor.ReadOptions{}); err != nil {
		b.Fatal(err)
	}
	return browser.Page(0), tab
}

// BenchmarkPublish measures the time from an event of the page to its head.
func BenchmarkPublish(b *testing.B) {
	page, tab := largePage(b)
	for i := 0; b.Loop(); i++ {
		next := tab.Head().Next()
		page.Emit(driver.TitleChanged{Title: fmt.Sprint(i)})
		<-next
	}
}

// BenchmarkRead measures a read of an unchanged page.
func BenchmarkRead(b *testing.B) {
	_, tab := largePage(b)
	for b.Loop() {
		if _, err := tab.Read(b.Context(), actor.ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
