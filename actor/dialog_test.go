package actor_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
)

func TestOnlyTheDialogThatIsMeantIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		page.OpenDialog(driver.Dialog{Type: "confirm", Message: "Delete?"})
		first := until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog != nil }).Info.Dialog
		page.CloseDialog()
		_, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{ID: first.ID, Accept: true})
		actortest.WantKind(t, err, apierr.NoDialog)
		page.OpenDialog(driver.Dialog{Type: "confirm", Message: "Pay?"})
		_, err = tab.AnswerDialog(t.Context(), driver.DialogAnswer{ID: first.ID, Accept: true})
		actortest.WantKind(t, err, apierr.NoDialog)
		if len(page.Answers()) != 0 {
			t.Errorf("answered %v", page.Answers())
		}
		got, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{ID: first.ID + 1})
		if err != nil || got.Message != "Pay?" || got.Answer != driver.Dismissed || tab.Info().Dialog != nil {
			t.Errorf("answered %+v, %v", got, err)
		}
	})
}

func TestADialogIsAnsweredWhileAnotherCallHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{Mailbox: 1})
		page := b.Page(0)
		page.Hang()
		errs := make(chan error, 2)
		for range 2 { // one is running, one fills the mailbox
			go func() {
				_, err := capture.Screenshot(t.Context(), tab, driver.ScreenshotOptions{})
				errs <- err
			}()
			synctest.Wait()
		}
		page.OpenDialog(driver.Dialog{Type: "alert"})
		actortest.WantKind(t, <-errs, apierr.DialogOpen)
		actortest.WantKind(t, <-errs, apierr.DialogOpen)
		if _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
			t.Error(err)
		}
		page.Resume()
		read(t, tab, actor.ReadOptions{})
	})
}

func TestDialogsAreAnsweredAsThePolicySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{Dialogs: driver.AcceptDialogs})
		stage(b)
		w := pool.Watch()
		defer w.Stop()
		if _, err := tab.Navigate(t.Context(), home+"stage", actor.WaitLoad); err != nil {
			t.Fatal(err)
		}
		ask := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[4].Ref
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ask)}})
		if err != nil || out.Verdict != turn.DialogShown || out.Info.Dialog != nil {
			t.Fatalf("outcome is %+v, %v", out, err)
		}
		if got, want := out.Results[0].Summary, `click "Ask": ok; confirm "Sure?" was accepted`; got != want {
			t.Errorf("the step says %s, want %s", got, want)
		}
		tab.SetDialogPolicy(driver.DismissDialogs)
		out, err = turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ask)}})
		if err != nil || !strings.Contains(out.Results[0].Summary, "was dismissed") {
			t.Errorf("outcome is %+v, %v", out, err)
		}
		tab.SetDialogPolicy(driver.ReportDialogs)
		if out, err = turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ask)}}); err != nil || out.Info.Dialog == nil {
			t.Errorf("outcome is %+v, %v", out, err)
		}
		tab.SetDialogPolicy(driver.AcceptDialogs) // also answers the open dialog
		until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog == nil })
		if got := fmt.Sprint(b.Page(0).Answers()); got != "[{true } {false } {true }]" {
			t.Errorf("answers are %s", got)
		}
		var told []string
		for range 6 {
			if e := next(t, w); e.Kind == actor.TabDialog && e.Dialog != nil {
				told = append(told, e.Dialog.Answer.String())
			} else if e.Kind == actor.TabDialog {
				told = append(told, "closed")
			}
		}
		if fmt.Sprint(told) != "[accepted dismissed open closed]" {
			t.Errorf("told of %v", told)
		}
	})
}

func TestAFloodOfDialogsFloodsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{Dialogs: driver.DismissDialogs})
		w := pool.Watch()
		defer w.Stop()
		b.Page(0).Update(func(f *actortest.Frame) {
			onClick(f.Body[0], func(p *actortest.Page) {
				for range 1000 {
					p.OpenDialog(driver.Dialog{Type: "alert", Message: strings.Repeat("x", 900)})
				}
			})
		})
		ref := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[0].Ref
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref)}})
		if err != nil || len(out.Results[0].Summary) > 500 || !strings.HasSuffix(out.Results[0].Summary, "; and more") {
			t.Errorf("outcome is %+v, %v", out, err)
		}
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		n := 0
		for e := next(t, w); e.Kind != actor.TabClosed; e = next(t, w) {
			n++
		}
		if n != 33 { // one event for the tab, and 32 for dialogs
			t.Errorf("%d events", n)
		}
	})
}
