package actor_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

func TestNavigateStartsANewDocument(t *testing.T) {
	_, _, tab := start(t, tabpool.Config{})
	before := read(t, tab, actor.ReadOptions{}).Head
	info, err := tab.Navigate(t.Context(), home+"help", actor.WaitLoad)
	if err != nil {
		t.Fatal(err)
	}
	h := tab.Head()
	if info.URL != home+"help" || info.Title != "Help" || h.Snapshot.Elements.Len() != 0 || h.Snapshot.Document != before.Snapshot.Document+1 {
		t.Errorf("info is %+v, snapshot %+v", info, h.Snapshot)
	}
	if h.At(before.Info.Revision) != nil {
		t.Error("the log reaches back to another document")
	}
	if h.Info.Epoch != before.Info.Epoch {
		t.Error("a navigation changed the epoch")
	}
	if got := texts(read(t, tab, actor.ReadOptions{}).Head.Snapshot); got != "3:Back" {
		t.Errorf("elements are %s", got)
	}
}

func TestNavigateWithinTheDocumentKeepsIt(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	before := read(t, tab, actor.ReadOptions{}).Head
	info, err := tab.Navigate(t.Context(), home+"#cart", actor.WaitLoad)
	if err != nil {
		t.Fatal(err)
	}
	if info.URL != home+"#cart" || info.Status != actor.StatusReady || info.Revision != before.Info.Revision+1 {
		t.Errorf("info is %+v", info)
	}
	b.Page(0).PushState(home + "cart/2")
	h := until(t, tab, func(h *actor.Head) bool { return h.Info.URL == home+"cart/2" })
	if !sameSnapshot(h.At(before.Info.Revision), before.Snapshot) || h.Snapshot.Elements.Slice()[0] != before.Snapshot.Elements.Slice()[0] {
		t.Error("the document was not kept")
	}
}

func TestNavigateFollowsAPageThatGoesOn(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Serve(home+"old", func() actortest.Screen { return actortest.Screen{Title: "Old", Redirect: home + "help"} })
	info, err := tab.Navigate(t.Context(), home+"old", actor.WaitLoad)
	if err != nil || info.URL != home+"help" || info.Title != "Help" {
		t.Errorf("info is %+v, %v", info, err)
	}
}

func TestNavigateSaysWhyItFailed(t *testing.T) {
	refuse := func(url string) error {
		if strings.HasPrefix(url, "file:") {
			return apierr.Errorf(apierr.Refused, "no files")
		}
		return nil
	}
	b, pool, tab := start(t, tabpool.Config{AllowURL: refuse})
	_, err := tab.Navigate(t.Context(), "https://nowhere.example/", actor.WaitLoad)
	e := actortest.WantKind(t, err, apierr.Navigation)
	if !strings.Contains(e.Message, "https://nowhere.example/") || !strings.Contains(e.Message, "net::ERR_NAME_NOT_RESOLVED") {
		t.Errorf("message is %s", e.Message)
	}
	_, err = tab.Navigate(t.Context(), "file:///etc/passwd", actor.WaitLoad)
	actortest.WantKind(t, err, apierr.Refused)
	_, err = turn.Run(t.Context(), tab, turn.Turn{URL: "file:///etc/passwd"})
	actortest.WantKind(t, err, apierr.Refused)
	_, err = pool.Open(t.Context(), tabpool.OpenOptions{URL: "file:///etc/passwd"})
	actortest.WantKind(t, err, apierr.Refused)
	if b.Page(1) != nil {
		t.Error("a page was opened for a URL that is refused")
	}
	_, err = tab.Forward(t.Context(), actor.WaitLoad)
	actortest.WantKind(t, err, apierr.NoHistory)
}

func TestAnErrorPageThatThePageItselfReportsFailsTheNavigation(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Serve(home+"old", func() actortest.Screen { return actortest.Screen{Redirect: "https://nowhere.example/"} })
	_, err := tab.Navigate(t.Context(), home+"old", actor.WaitLoad)
	actortest.WantKind(t, err, apierr.Navigation)
}

func TestHistoryHoldsTheLastPages(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	if _, err := tab.Navigate(t.Context(), home+"help", actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Back(t.Context(), actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	b.Page(0).SetTitle("Sale")
	until(t, tab, func(h *actor.Head) bool { return h.Info.Title == "Sale" })
	if got := fmt.Sprint(tab.History()); got != "[{https://shop.example/ Shop} {https://shop.example/help Help} {https://shop.example/ Sale}]" {
		t.Errorf("history is %s", got)
	}
	for i := range 12 {
		b.Page(0).PushState(fmt.Sprint(home, "p", i))
	}
	until(t, tab, func(h *actor.Head) bool { return h.Info.URL == home+"p11" })
	history := tab.History()
	if len(history) != 10 || history[0].URL != home+"p2" || history[9] != (actor.HistoryEntry{URL: home + "p11", Title: "Sale"}) {
		t.Errorf("history is %v", history)
	}
}

func TestADialogIsReportedAndAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		page.Hang()
		errs := make(chan error)
		go func() {
			_, err := tab.Read(t.Context(), actor.ReadOptions{})
			errs <- err
		}()
		synctest.Wait()
		revision := tab.Info().Revision
		page.OpenDialog(driver.Dialog{Type: "confirm", Message: "Delete?"})
		actortest.WantKind(t, <-errs, apierr.DialogOpen)
		page.Resume()
		if d := tab.Info().Dialog; d == nil || d.Message != "Delete?" || tab.Info().Revision != revision {
			t.Errorf("info is %+v", tab.Info())
		}
		_, err := tab.Read(t.Context(), actor.ReadOptions{})
		e := actortest.WantKind(t, err, apierr.DialogOpen)
		if e.Detail["type"] != "confirm" || !strings.Contains(e.Message, "Delete?") {
			t.Errorf("error is %+v", e)
		}
		if _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true, Text: new("yes")}); err != nil {
			t.Fatal(err)
		}
		if tab.Info().Dialog != nil || fmt.Sprint(page.Answers()) != "[{true yes}]" {
			t.Errorf("info is %+v, answers %v", tab.Info(), page.Answers())
		}
		_, err = tab.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true})
		actortest.WantKind(t, err, apierr.NoDialog)
		read(t, tab, actor.ReadOptions{})
	})
}

func TestADialogThatOpensWhileThePageLoadsEndsTheWait(t *testing.T) {
	b, pool, _ := start(t, tabpool.Config{})
	b.Serve(home+"alert", func() actortest.Screen {
		return actortest.Screen{Opens: &driver.Dialog{Type: "alert", Message: strings.Repeat("é", 2000)}}
	})
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: home + "alert"})
	if err != nil {
		t.Fatal(err)
	}
	d := tab.Info().Dialog
	if d == nil || len([]rune(d.Message)) != 1001 || tab.Info().URL != home+"alert" {
		t.Errorf("info is %+v", tab.Info())
	}
	out, err := turn.Run(t.Context(), tab, turn.Turn{URL: home})
	if err != nil || out.Verdict != turn.Navigated || out.Info.Dialog != nil {
		t.Errorf("outcome is %+v, %v", out, err)
	}
}

func TestThePageMayAskBeforeItIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Serve(home+"hold", func() actortest.Screen { return actortest.Screen{Hold: true} })
		errs := make(chan error)
		go func() {
			_, err := tab.Navigate(t.Context(), home+"hold", actor.WaitLoad)
			errs <- err
		}()
		synctest.Wait()
		b.Page(0).OpenDialog(driver.Dialog{Type: "beforeunload"})
		actortest.WantKind(t, <-errs, apierr.DialogOpen)
		_, err := tab.Navigate(t.Context(), home, actor.WaitLoad)
		actortest.WantKind(t, err, apierr.DialogOpen)
		if _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{}); err != nil {
			t.Fatal(err)
		}
		read(t, tab, actor.ReadOptions{})
	})
}

func TestNavigateWaitsForThePhaseThatWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Serve(home+"stall", func() actortest.Screen { return actortest.Screen{Stall: true} })
		page := b.Page(0)
		const parsed, loaded, quiet = driver.PhaseDOMContentLoaded, driver.PhaseLoad, driver.PhaseNetworkIdle
		for i, tt := range []struct {
			wait   actor.Wait
			phases []driver.Phase // in order; the last one ends the wait
		}{
			{actor.WaitCommit, nil},
			{actor.WaitDOMContentLoaded, []driver.Phase{quiet, parsed}},
			{actor.WaitDOMContentLoaded, []driver.Phase{loaded}},
			{actor.WaitLoad, []driver.Phase{parsed, quiet, loaded}},
			{actor.WaitNetworkIdle, []driver.Phase{parsed, loaded, quiet}},
			{actor.WaitNetworkIdle, []driver.Phase{quiet, loaded}},
		} {
			answer := make(chan actor.Info, 1)
			go func() {
				info, err := tab.Navigate(t.Context(), home+"stall", tt.wait)
				if err != nil {
					t.Error(err)
				}
				answer <- info
			}()
			for _, phase := range tt.phases {
				synctest.Wait()
				if len(answer) > 0 {
					t.Errorf("case %d ends before phase %d", i, phase)
				}
				page.Emit(driver.Loaded{Document: fmt.Sprint("page-1-document-", i+2), Phase: phase})
				for other := range quiet {
					page.Emit(driver.Loaded{Document: "page-1-document-1", Phase: other + 1})
				}
			}
			synctest.Wait()
			if len(answer) == 0 {
				t.Errorf("case %d does not end", i)
			}
			<-answer
		}
	})
}

func TestADocumentMayReportItselfBeforeTheBrowserDoes(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	before := read(t, tab, actor.ReadOptions{}).Head
	page := b.Page(0)
	op := dom.Op{Kind: dom.OpAdd, After: dom.Place{Ref: dom.NoRef, New: -1}, Parent: dom.Place{Ref: dom.NoRef, New: -1}, Element: dom.Element{Text: "Early"}}
	page.Emit(driver.Patched{Patch: dom.Patch{Document: "x", Sequence: 1, Full: true, URL: home + "x", Title: "X", Ops: []dom.Op{op}}})
	h := until(t, tab, func(h *actor.Head) bool { return h.Info.URL == home+"x" })
	if texts(h.Snapshot) != "3:Early" || h.Info.Title != "X" || h.Snapshot.Document != before.Snapshot.Document+1 {
		t.Errorf("head is %+v", h.Info)
	}
	page.Emit(driver.Committed{Document: "x", URL: home + "y"})
	h = until(t, tab, func(h *actor.Head) bool { return h.Info.URL == home+"y" })
	if texts(h.Snapshot) != "3:Early" || h.Info.Status != actor.StatusLoading || len(tab.History()) != 2 {
		t.Errorf("head is %+v, history %v", h.Info, tab.History())
	}
}

func TestPagesThatACallLoadedArePrepared(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		b, _, tab := start(t, tabpool.Config{ReadAhead: ahead})
		b.Serve(home+"alert", func() actortest.Screen { return actortest.Screen{Opens: &driver.Dialog{Type: "alert", Message: "Hi"}} })
		var got []int
		note := func(_ actor.Info, err error) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Page(0).Calls("Prepare"))
		}
		note(actor.Info{}, nil)
		for _, wait := range []actor.Wait{actor.WaitCommit, actor.WaitDOMContentLoaded, actor.WaitLoad, actor.WaitNetworkIdle} {
			note(tab.Navigate(t.Context(), home+"help", wait))
		}
		note(tab.Back(t.Context(), actor.WaitLoad))
		note(tab.Reload(t.Context(), actor.WaitLoad))
		read(t, tab, actor.ReadOptions{})
		note(tab.Navigate(t.Context(), home+"alert", actor.WaitLoad)) // a page behind a dialog is not queried
		want := "[0 0 0 0 0 0 0 0]"
		if ahead {
			want = "[1 1 1 2 3 4 5 5]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("ahead=%v: prepared %v, want %v", ahead, got, want)
		}
	}
}
