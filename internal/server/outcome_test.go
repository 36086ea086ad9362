package server

import (
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
)

// says returns a notice that a page reports.
func says(id uint64, kind dom.NoticeKind, words string) driver.NoticesReported {
	return driver.NoticesReported{Document: "d", Notices: []dom.Notice{{ID: id, Kind: kind, Text: words, Ref: dom.NoRef}}}
}

func TestTheOutcomeOfAWaitIsWhatWasNoticedMeanwhile(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		page.Emit(says(1, dom.NoticeAlert, "Before"))
		synctest.Wait() // the tab receives it before the wait starts
		p := b.waitFor(until(tab, element(&domtapv1.ElementCondition{Name: "done"})))
		if !page.Subscription().Notices {
			t.Error("the page is not asked for notices")
		}
		page.Emit(says(2, dom.NoticeStatus, "Paying"))
		page.Emit(says(1, dom.NoticeAlert, "Before, and more"))
		add(page, "Done")
		if got := text.Outcome(p.wantMet("with the button").GetOutcome(), ""); got != "! status: Paying\n" {
			t.Errorf("got %s", got)
		}
	})
}

func TestAStreamHasTheOutcomeWhenItsReaderAsks(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, plain := b.watchShop(actortest.Button("Pay"))
		if page.Subscription().Notices {
			t.Error("the page is asked for notices that nobody reads")
		}
		page.Emit(says(1, dom.NoticeAlert, "Before"))
		synctest.Wait()
		asks := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), IncludeOutcome: true})
		asks.next()
		page.Emit(says(2, dom.NoticeToast, "Saved"))
		first := asks.next()
		if got := text.Outcome([]*domtapv1.Outcome{first.GetOutcome()}, ""); got != "! toast: Saved\n" || first.GetRevision() == 0 {
			t.Errorf("got %v", first)
		}
		gone := says(2, dom.NoticeToast, "Saved")
		gone.Notices[0].Gone = true
		page.Emit(gone)
		if m := asks.next(); !m.GetOutcome().GetGone() || m.GetRevision() != first.GetRevision() {
			t.Errorf("got %v", m)
		}
		add(page, "Fresh")
		if m := asks.next(); m.GetDiff().GetAddedCount() != 1 {
			t.Errorf("got %v, want the diff", m)
		}
		if m := plain.next(); m.GetDiff().GetAddedCount() != 1 {
			t.Errorf("who asked for no outcome got %v", m)
		}
	})
}

func TestTheOutcomeOfATurn(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay")
		pay.Act = func(page *actortest.Page, _ driver.Action) error {
			page.Emit(says(2, dom.NoticeDialog, "Pay now?"))
			return nil
		}
		tab, page := b.shop(pay)
		page.Emit(says(1, dom.NoticeAlert, "Before"))
		ref := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()}).GetElements()[0].GetRef()
		click := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}
		for _, want := range []string{"! dialog \"Pay now?\"\n", ""} { // reported again, it is the same notice
			answer, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{click}})
			if err != nil {
				t.Fatal(err)
			}
			if got := text.Outcome(answer.GetOutcome(), ""); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}
