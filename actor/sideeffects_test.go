package actor_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
)

func TestAPageOpensSoManyWindowsByOneAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{MaxTabs: 100})
		b.Page(0).Update(func(f *actortest.Frame) {
			onClick(f.Body[0], func(p *actortest.Page) {
				for range 30 {
					p.Open(home + "help")
				}
			})
		})
		for round := range 2 {
			ref := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[0].Ref
			out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref)}})
			if err != nil || out.Verdict != turn.NewTab || out.NewTab == "" {
				t.Fatalf("outcome is %+v, %v", out, err)
			}
			synctest.Wait()
			if n := len(pool.Tabs()); n != 1+10*(round+1) {
				t.Errorf("there are %d tabs", n)
			}
		}
	})
}

func TestDownloadsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		for _, d := range []driver.Download{
			{GUID: "a", Filename: "a.pdf"}, {GUID: "b", Filename: "b.pdf"}, {GUID: "a", Filename: "a.pdf", State: driver.Fetched, Path: "/d/a.pdf"},
		} {
			page.Emit(driver.DownloadProgressed{Download: d})
		}
		synctest.Wait()
		all := pool.Downloads("default")
		if len(all) != 2 || all[0].GUID != "b" || all[0].Tab != tab.ID() || all[1].Path != "/d/a.pdf" {
			t.Errorf("downloads are %+v", all)
		}
		for range 120 {
			page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: strings.Repeat("x", len(pool.Downloads("default"))), State: driver.Fetched}})
			synctest.Wait()
		}
		if n := len(pool.Downloads("default")); n != 100 {
			t.Errorf("%d are remembered", n)
		}
		page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "last"}})
		synctest.Wait()
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		if d := pool.Downloads("default")[0]; d.State != driver.NotFetched || !strings.Contains(d.Reason, "closed") {
			t.Errorf("the download of a closed tab is %+v", d)
		}
		pool.ForgetDownloads("default")
		if n := len(pool.Downloads("default")); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

func TestResultsOfActionsNameSideEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Update(func(f *actortest.Frame) {
			onClick(f.Body[0], func(p *actortest.Page) {
				p.Emit(driver.FileChooserRequested{})
				p.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", Filename: "a.pdf"}})
				p.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", Filename: "a.pdf", Received: 5}})
				p.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", Filename: "a.pdf", State: driver.NotFetched, Reason: "no room"}})
			})
		})
		ref := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[0].Ref
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref), click(ref + 1)}})
		if err != nil {
			t.Fatal(err)
		}
		want := `click "Pay": ok; the page opened a file chooser: send an upload step with this ref; the download of "a.pdf" was canceled: no room`
		if got := out.Results[0].Summary; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := out.Results[1].Summary; got != `click "Email": ok` {
			t.Errorf("the next action says %s", got)
		}
	})
}
