package actor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

// saidWithin limits how long reporting an unresponsive page may take.
const saidWithin = 3 * time.Second

// onStage opens a page with buttons and a field, and returns the ref of the first button.
func onStage(t *testing.T) (*actortest.Page, *actor.Tab, dom.Ref) {
	t.Helper()
	b, _, tab := start(t, tabpool.Config{})
	stage(b)
	if _, err := tab.Navigate(t.Context(), home+"stage", actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	return b.Page(0), tab, read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[0].Ref
}

// A page that stops answering after an action is reported as unresponsive, however much time the caller has.
func TestAPageThatHangsAfterAnActionIsSaidToHang(t *testing.T) {
	for _, kind := range []driver.ActionKind{
		driver.Click, driver.Type, driver.Fill, driver.Press, driver.Hover, driver.Scroll, driver.Select, driver.Check, driver.Drag, driver.Upload,
	} {
		for _, methods := range [][]string{{"Settle"}, {"Settle", "Read"}} { // while it settles, and during the read after that
			synctest.Test(t, func(t *testing.T) {
				page, tab, ref := onStage(t)
				one := driver.Action{Kind: kind, Location: driver.At(ref + 7), Text: "x", To: new(driver.At(ref))}
				page.HangOn(methods...)
				begin := time.Now()
				out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{{Action: one}, click(ref), {Read: &turn.ReadStep{}}, {Shot: &turn.ScreenshotStep{}}}})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > saidWithin {
					t.Errorf("%v: it took %v", kind, took)
				}
				first := out.Results[0]
				if !first.Done || first.Delivered != driver.DeliveredAll || !strings.Contains(first.Summary, "but then the page stopped answering") {
					t.Errorf("%v: %+v", kind, first)
				}
				for _, r := range out.Results[1:] {
					if r.Done || !strings.Contains(r.Summary, "not done, the page stopped answering") {
						t.Errorf("after it: %+v", r)
					}
					actortest.WantKind(t, r.Err, apierr.Unresponsive)
				}
				if out.Info.Status != actor.StatusUnresponsive || tab.Info().Status != actor.StatusUnresponsive {
					t.Errorf("%v: the status is %v in the answer, and %v", kind, out.Info.Status, tab.Info().Status)
				}
				page.Resume()
				until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusReady })
				if got := page.Calls("Do"); got != 1 {
					t.Errorf("%d actions were done", got)
				}
			})
		}
	}
}

// An action during which the page hangs is not reported as done.
func TestAnActionDuringWhichThePageHangsIsNotOK(t *testing.T) {
	for _, method := range []string{"Do", "Find"} {
		synctest.Test(t, func(t *testing.T) {
			page, tab, ref := onStage(t)
			one := click(ref)
			if method == "Find" {
				one = turn.Step{Action: driver.Action{Kind: driver.Click, Location: driver.At(dom.NoRef)}, Target: target.Target{By: target.Selector, Words: "button"}}
			}
			page.HangOn(method)
			begin := time.Now()
			out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{one, click(ref)}, StopOnError: true, ShotOnError: true})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > saidWithin {
				t.Errorf("%s: it took %v", method, took)
			}
			r := out.Results[0]
			if r.Done || r.Delivered != driver.DeliveredNone || !strings.HasSuffix(r.Summary, ": the page stopped answering") {
				t.Errorf("%s: %+v", method, r)
			}
			actortest.WantKind(t, r.Err, apierr.Unresponsive)
			if want := map[string]string{"Do": "during the click; whether", "Find": "before the click, so nothing was done"}[method]; !strings.Contains(r.Err.Error(), want) {
				t.Errorf("%s: error is %v", method, r.Err)
			}
			if out.Info.Status != actor.StatusUnresponsive {
				t.Errorf("%s: the status is %v", method, out.Info.Status)
			}
		})
	}
}

func isUnresponsive(err error) bool {
	return apierr.Is(err, apierr.Unresponsive)
}

// No result states that a form refused a value if the value could no longer be read.
func TestAFormWhosePageHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, tab, _ := onStage(t)
		form := turn.NewForm()
		fill := turn.Step{Field: &turn.Field{Form: form, Ways: []target.Target{{By: target.Label, Words: "Email"}}, Values: []string{"a@b.c"}}}
		page.HangOn("Settle")
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{fill, {Submit: form}}, StopOnError: true})
		if err != nil {
			t.Fatal(err)
		}
		if r := out.Results[0]; !r.Done || r.Err != nil || !strings.Contains(r.Summary, "but then the page stopped answering") {
			t.Errorf("the field: %+v", r)
		}
		if r := out.Results[1]; r.Done || !isUnresponsive(r.Err) {
			t.Errorf("the form: %+v", r)
		}
	})
}

// A page that answers in time is not reported as unresponsive, nor is a page whose caller has no time to find out.
func TestAPageThatIsBusyForAMomentDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, tab, ref := onStage(t)
		for _, method := range []string{"Do", "Settle"} {
			page.HangOn(method)
			time.AfterFunc(1900*time.Millisecond, page.Resume)
			out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref)}})
			if err != nil {
				t.Fatal(err)
			}
			if r := out.Results[0]; !r.Done || r.Summary != `click "Nothing": ok` || out.Info.Status != actor.StatusReady {
				t.Errorf("%s: %+v with status %v", method, r, out.Info.Status)
			}
		}
		page.HangOn("Settle")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out, err := turn.Run(ctx, tab, turn.Turn{Steps: []turn.Step{click(ref)}})
		if err != nil {
			t.Fatal(err)
		}
		if r := out.Results[0]; !r.Done || r.Summary != `click "Nothing": ok, but the call timed out before the page settled` {
			t.Errorf("%+v", r)
		}
	})
}

// A page that shows one dialog after the other does not answer, but is not unresponsive, because a policy answers the dialogs.
func TestDialogsThatAPolicyAnswersAreSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, tab, ref := onStage(t)
		page.HangOn("Do")
		for i := range 4 {
			time.AfterFunc(time.Duration(i+1)*1500*time.Millisecond, func() {
				page.Emit(driver.DialogOpened{Dialog: driver.Dialog{ID: uint64(i + 1), Type: "alert", Message: "again", Answer: driver.Accepted}})
			})
		}
		time.AfterFunc(7*time.Second, page.Resume)
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref)}})
		if err != nil {
			t.Fatal(err)
		}
		if r := out.Results[0]; !r.Done || strings.Contains(r.Summary, "stopped") || out.Info.Status != actor.StatusReady {
			t.Errorf("%+v with status %v", r, out.Info.Status)
		}
	})
}

// A page behind a dialog does not answer, but is not unresponsive.
func TestADialogIsNoHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tab, ref := onStage(t)
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref + 4), click(ref)}})
		if err != nil {
			t.Fatal(err)
		}
		if out.Verdict != turn.DialogShown || out.Info.Status == actor.StatusUnresponsive {
			t.Errorf("verdict %v, status %v, %+v", out.Verdict, out.Info.Status, out.Results)
		}
	})
}
