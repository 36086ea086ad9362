package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

func click(ref dom.Ref) turn.Step {
	return turn.Step{Action: driver.Action{Kind: driver.Click, Location: driver.At(ref)}}
}

// onClick sets the effect of clicking the node.
func onClick(n *actortest.Node, do func(p *actortest.Page)) *actortest.Node {
	n.Act = func(p *actortest.Page, _ driver.Action) error {
		do(p)
		return nil
	}
	return n
}

// stage serves a page whose buttons each have one effect.
func stage(b *actortest.Browser) {
	b.Serve(home+"stage", func() actortest.Screen {
		return actortest.Screen{Body: []*actortest.Node{
			actortest.Button("Nothing"),
			onClick(actortest.Button("Add"), func(p *actortest.Page) { p.Update(add(actortest.Button("Added"))) }),
			onClick(actortest.Button("Go"), func(p *actortest.Page) { p.Go(home) }),
			onClick(actortest.Button("Push"), func(p *actortest.Page) { p.PushState(home + "stage/2") }),
			onClick(actortest.Button("Ask"), func(p *actortest.Page) { p.OpenDialog(driver.Dialog{Type: "confirm", Message: "Sure?"}) }),
			onClick(actortest.Button("Open"), func(p *actortest.Page) { p.Open(home + "help") }),
			onClick(actortest.Button("Clear"), func(p *actortest.Page) { p.Update(func(f *actortest.Frame) { f.Body = f.Body[:1] }) }),
			actortest.Textbox("Email", "me"),
		}}
	})
}

func TestActSaysWhatItDid(t *testing.T) {
	tests := []struct {
		actions []turn.Step
		verdict turn.Verdict
		after   string // the text of the last element
		summary string
	}{
		{nil, turn.NoChange, "Email", ""},
		{[]turn.Step{click(0)}, turn.NoChange, "Email", `click "Nothing": ok`},
		{[]turn.Step{click(1)}, turn.Changed, "Added", `click "Add": ok`},
		{[]turn.Step{click(2)}, turn.Navigated, "Help", `click "Go": ok → Shop (/)`},
		{[]turn.Step{click(3)}, turn.Navigated, "Email", `click "Push": ok → (/stage/2)`},
		{[]turn.Step{click(4)}, turn.DialogShown, "Email", `click "Ask": ok, and a dialog is open: confirm "Sure?"`},
		{[]turn.Step{click(1), click(4), click(0)}, turn.DialogShown, "Added", `click "Add": ok, click "Ask": ok, and a dialog is open: confirm "Sure?", click 0: not done, a dialog is open`},
		{[]turn.Step{
			{Action: driver.Action{Kind: driver.Fill, Location: driver.At(7), Text: "a@b.c"}}, {Action: driver.Action{Kind: driver.Press, Location: driver.At(dom.NoRef), Text: "Enter"}},
		}, turn.Changed, "Email", `fill "Email": ok, press "Enter": ok`},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			b, _, tab := start(t, tabpool.Config{})
			stage(b)
			if _, err := tab.Navigate(t.Context(), home+"stage", actor.WaitLoad); err != nil {
				t.Fatal(err)
			}
			first := read(t, tab, actor.ReadOptions{}).Head.Snapshot
			for i := range tt.actions {
				if r := &tt.actions[i].Ref; *r != dom.NoRef {
					*r += first.Elements.Slice()[0].Ref
				}
			}
			out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: tt.actions})
			if err != nil {
				t.Fatal(err)
			}
			var summaries []string
			for _, r := range out.Results {
				summaries = append(summaries, r.Summary)
			}
			got := strings.Join(summaries, ", ")
			if out.Verdict != tt.verdict || got != tt.summary || out.Before != first {
				t.Errorf("%s: verdict %v of before %d, after %d", got, out.Verdict, out.Before.Revision, out.After.Revision)
			}
			if last := out.After.Elements.Slice()[out.After.Elements.Len()-1].Text; last != tt.after {
				t.Errorf("%s: the last element is %s", got, last)
			}
			if out.Info != tab.Info() || (out.Info.Dialog != nil) != (tt.verdict == turn.DialogShown) {
				t.Errorf("%s: info is %+v", got, out.Info)
			}
		})
	}
}

func TestActWaitsForTheDocumentOfAWindowThatItOpened(t *testing.T) {
	for _, tt := range []struct {
		after, took time.Duration
		shows       string
	}{{time.Second, time.Second, "0:Back"}, {time.Hour, 3 * time.Second, ""}} {
		synctest.Test(t, func(t *testing.T) {
			b, pool, tab := start(t, tabpool.Config{})
			b.Page(0).Update(func(f *actortest.Frame) {
				onClick(f.Body[0], func(p *actortest.Page) {
					popup := p.OpenBound()
					come := time.AfterFunc(tt.after, func() { popup.Go(home + "help") })
					t.Cleanup(func() { come.Stop() })
				})
			})
			read(t, tab, actor.ReadOptions{})
			began := time.Now()
			out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(0)}})
			if err != nil || out.NewTab != "t2" || time.Since(began) < tt.took || time.Since(began) > tt.took+time.Second {
				t.Fatalf("outcome is %+v, %v, after %v", out, err, time.Since(began))
			}
			opened, err := pool.Tab("t2")
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(read(t, opened, actor.ReadOptions{}).Head.Snapshot); got != tt.shows {
				t.Errorf("the window shows %q, want %q", got, tt.shows)
			}
		})
	}
}

func TestActTellsOfATabThatItOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		var popup *actortest.Page
		b.Page(0).Update(func(f *actortest.Frame) {
			onClick(f.Body[0], func(p *actortest.Page) {
				popup = p.Open(home + "help")
			})
		})
		read(t, tab, actor.ReadOptions{})
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(0)}})
		if err != nil || out.Verdict != turn.NewTab || out.NewTab != "t2" {
			t.Fatalf("outcome is %+v, %v", out, err)
		}
		opened, err := pool.Tab("t2")
		if err != nil {
			t.Fatal(err)
		}
		if i := opened.Info(); i.Opener != "t1" {
			t.Errorf("info is %+v", i)
		}
		if got := texts(read(t, opened, actor.ReadOptions{}).Head.Snapshot); got != "0:Back" || popup == nil {
			t.Errorf("the popup shows %s", got)
		}
	})
}

func TestActRefusesWhatIsGone(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	read(t, tab, actor.ReadOptions{})
	b.Page(0).Update(func(f *actortest.Frame) { f.Body = f.Body[1:] })
	plan := turn.Turn{Steps: []turn.Step{click(0), click(99), click(1)}}
	out, err := turn.Run(t.Context(), tab, plan)
	if err != nil {
		t.Fatal(err)
	}
	e := actortest.WantKind(t, out.Results[0].Err, apierr.Stale)
	if fmt.Sprint(e.Detail) != `map[ref:0 was:button "Pay"]` || !strings.Contains(e.Message, `button "Pay"`) {
		t.Errorf("error is %v, %v", e, e.Detail)
	}
	actortest.WantKind(t, out.Results[1].Err, apierr.Invalid)
	if !out.Results[2].Done || out.Results[0].Done || len(b.Page(0).Actions()) != 1 {
		t.Errorf("results are %+v, the page saw %v", out.Results, b.Page(0).Actions())
	}
	a := b.Page(0).Actions()[0]
	if a.Document != "page-1-document-1" || a.Frame != "" || a.Ref != 1 {
		t.Errorf("the page saw %+v", a)
	}
	plan.StopOnError = true
	out, err = turn.Run(t.Context(), tab, plan)
	if err != nil || len(b.Page(0).Actions()) != 1 {
		t.Errorf("the page saw %v, %v", b.Page(0).Actions(), err)
	}
	if r := out.Results[2]; r.Done || r.Err != nil || r.Summary != "click 1: skipped" {
		t.Errorf("result is %+v", r)
	}
}

func TestActReachesElementsOfFramesRightAfterTheyAppear(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) { f.Body = frames() })
	// The turn's own read assigns the refs, and must send them to the page before the turn acts.
	out, err := turn.Run(t.Context(), tab, turn.Turn{})
	if err != nil || texts(out.After) != "0:Top 1:Outer 2:In 3:Inner 4:Deep 5:Last" {
		t.Fatalf("%v, %v", out.After, err)
	}
	out, err = turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(4)}})
	if err != nil || !out.Results[0].Done || b.Page(0).Actions()[0].Frame != "inner" {
		t.Errorf("outcome is %+v, %v", out, err)
	}
}

func TestActReportsWhatThePageRefuses(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) {
		f.Body[0].Act = func(*actortest.Page, driver.Action) error {
			return apierr.Errorf(apierr.NotActionable, "covered by a dialog")
		}
	})
	read(t, tab, actor.ReadOptions{})
	out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(0)}})
	if err != nil {
		t.Fatal(err)
	}
	actortest.WantKind(t, out.Results[0].Err, apierr.NotActionable)
	if out.Results[0].Summary != `click "Pay": not actionable` || out.Verdict != turn.NoChange {
		t.Errorf("outcome is %+v", out)
	}
}

func TestActOnAHangingPageEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Page(0).Update(func(f *actortest.Frame) { onClick(f.Body[0], (*actortest.Page).Hang) })
		read(t, tab, actor.ReadOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err := turn.Run(ctx, tab, turn.Turn{Steps: []turn.Step{click(0)}})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > time.Second {
			t.Errorf("error is %v after %v", err, time.Since(begin))
		}
	})
}

func TestActWaitsForTheDocumentThatItLedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		b.Serve(home+"stall", func() actortest.Screen {
			return actortest.Screen{Stall: true, Body: []*actortest.Node{actortest.Button("Half")}}
		})
		b.Page(0).Update(func(f *actortest.Frame) { onClick(f.Body[0], func(p *actortest.Page) { p.Go(home + "stall") }) })
		read(t, tab, actor.ReadOptions{})
		begin := time.Now()
		out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(0)}})
		if err != nil || out.Verdict != turn.Navigated || texts(out.After) != "3:Half" {
			t.Errorf("outcome is %+v, %v", out, err)
		}
		if d := time.Since(begin); d != 10*time.Second {
			t.Errorf("the turn took %v", d)
		}
	})
}
