package actor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

// TestATurnLetsGo leaves a button pressed in turns that end in every way. It must be released, as a part of the turn if the page can
// answer.
func TestATurnLetsGo(t *testing.T) {
	const released = "; the pressed button was released at the end of the turn"
	for name, c := range map[string]struct {
		press dom.Ref
		then  []turn.Step
		gone  bool // the caller cancels
		ups   int
		says  string
	}{
		"as the caller says":      {0, []turn.Step{mouseStep(driver.MouseUp, dom.NoRef)}, false, 1, "mouse_up: ok"},
		"without a release":       {0, nil, false, 1, `mouse_down "Nothing": ok` + released},
		"when a step fails":       {0, []turn.Step{click(99)}, false, 1, "no such ref" + released},
		"when a dialog opens":     {4, []turn.Step{mouseStep(driver.MouseUp, dom.NoRef)}, false, 0, "a dialog is open"},
		"when the caller is gone": {0, []turn.Step{click(0)}, true, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _, tab := start(t, tabpool.Config{})
				stage(b)
				if _, err := tab.Navigate(t.Context(), home+"stage", actor.WaitLoad); err != nil {
					t.Fatal(err)
				}
				first := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Slice()[0].Ref
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.gone {
					b.Page(0).Update(func(f *actortest.Frame) { onClick(f.Body[0], func(*actortest.Page) { cancel() }) })
				}
				steps := append([]turn.Step{mouseStep(driver.MouseDown, first+c.press)}, c.then...)
				for i := range steps {
					if steps[i].Kind == driver.Click && steps[i].Ref == 0 {
						steps[i].Ref = first
					}
				}
				out, err := turn.Run(ctx, tab, turn.Turn{Steps: steps, StopOnError: true})
				if (err != nil) != c.gone {
					t.Fatal(err)
				}
				if n := len(out.Results); n > 0 && !strings.Contains(out.Results[n-1].Summary, c.says) {
					t.Errorf("the last step says %q, not %q", out.Results[n-1].Summary, c.says)
				}
				synctest.Wait() // after the turn, even if its caller did not wait
				ups := 0
				for _, a := range b.Page(0).Actions() {
					if a.Kind == driver.MouseUp {
						ups++
					}
				}
				wrong := ups != c.ups
				if c.gone { // before the release, or after it
					wrong = ups > 1
				}
				if lets := b.Page(0).Calls("ReleaseButton"); wrong || lets == 0 {
					t.Errorf("%d releases, and let go %d times", ups, lets)
				}
			})
		})
	}
}

func mouseStep(kind driver.ActionKind, ref dom.Ref) turn.Step {
	return turn.Step{Action: driver.Action{Kind: kind, Location: driver.At(ref)}}
}
