package actor_test

import (
	"context"
	"errors"
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

func at(to target.Target) turn.Step {
	return turn.Step{Action: driver.Action{Kind: driver.Click, Location: driver.At(dom.NoRef)}, Target: to}
}

func byRole(role, name string) target.Target {
	return target.Target{By: target.Role, Role: role, Name: name}
}

// set makes the page show the nodes.
func set(p *actortest.Page, nodes ...*actortest.Node) {
	p.Update(func(f *actortest.Frame) { f.Body = nodes })
}

func act(t *testing.T, tab *actor.Tab, plan turn.Turn) turn.Outcome {
	t.Helper()
	out, err := turn.Run(t.Context(), tab, plan)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestActFindsWhatIsMeantWhenItsTurnComes(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	page := b.Page(0)
	made := actortest.Button("Made")
	open := onClick(actortest.Button("Make"), func(p *actortest.Page) { p.Update(add(made)) })
	card := actortest.El("div", "generic", "A card")
	card.Kind, card.Attributes = dom.Structural, map[string]string{"data-testid": "card"}
	email := actortest.Textbox("Email", "")
	email.Placeholder = "you@example.org"
	set(page, open, card, email, actortest.Heading(2, "Orders"))
	page.Match(".made", func(n *actortest.Node) bool { return n == made })
	out := act(t, tab, turn.Turn{Steps: []turn.Step{
		at(byRole("button", "make")), at(byRole("", "Made")), at(target.Target{By: target.Selector, Words: ".made"}),
		at(target.Target{By: target.TestID, Words: "card"}), at(target.Target{By: target.Label, Words: "email"}),
		at(target.Target{By: target.Placeholder, Words: "you@"}), at(byRole("heading", "orders")), at(target.Target{By: target.Text, Words: "Orders"}),
	}})
	var got []string
	for _, r := range out.Results {
		got = append(got, r.Summary)
	}
	want := `click "Make": ok; click "Made": ok; click "Made": ok; click "A card": ok; click "Email": ok; click "Email": ok; click "Orders": ok; click "Orders": ok`
	if strings.Join(got, "; ") != want {
		t.Errorf("did %s", strings.Join(got, "; "))
	}
	// Elements that were read to find the heading do not count as a change.
	if n := out.Elements(out.After).Len(); out.Structural || n != 3 {
		t.Errorf("%d elements count, want the two buttons and the field", n)
	}
}

// TestLookingIntoStructureIsNoChange clicks a heading that was not read yet. The click has no effect. The page then reports parents for its
// other elements, which they always had.
func TestLookingIntoStructureIsNoChange(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	region := actortest.El("section", "region", "Orders of May", actortest.Heading(2, "Orders"), actortest.Button("Pay"))
	region.Kind = dom.Structural
	set(b.Page(0), region)
	out := act(t, tab, turn.Turn{Steps: []turn.Step{at(byRole("heading", "orders"))}})
	if out.Structural || out.Verdict != turn.NoChange {
		t.Errorf("the verdict is %v", out.Verdict)
	}
	pay := out.After.Elements.Slice()[2]
	alone := turn.WithoutStructure(out.After.Elements).Slice()
	if len(alone) != 1 || alone[0].Text != "Pay" || alone[0].Parent != dom.NoRef || alone[0].Depth != 0 || pay.Depth != 1 {
		t.Errorf("without structure %+v is %+v", pay, alone)
	}
}

func TestActRefusesWhatMeansSeveralOrNone(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	off := actortest.Textbox("Hidden", "")
	off.Off = true
	duplicate := actortest.Button("Delete")
	duplicate.Covered = true
	set(b.Page(0), actortest.Button("Pay now"), actortest.Button("Delete"), duplicate, off)
	for _, c := range []struct {
		target     target.Target
		kind       apierr.ErrorKind
		says       string
		candidates int
	}{
		{byRole("button", "Delete"), apierr.Ambiguous, `2 elements match button "Delete": [1] button "Delete", [2] button "Delete"`, 2},
		{byRole("button", "Pya now"), apierr.NoMatch, `nothing on the page matches button "Pya now"; the nearest: [0] button "Pay now"`, 1},
		{target.Target{By: target.Label, Words: "Hidden"}, apierr.NotActionable, "not visible (<input>)", 0},
		{target.Target{By: target.Selector, Words: "]"}, apierr.Invalid, "use a CSS selector", 0},
	} {
		out := act(t, tab, turn.Turn{Steps: []turn.Step{at(c.target)}})
		e := actortest.WantKind(t, out.Results[0].Err, c.kind)
		if !strings.Contains(e.Message, c.says) || len(e.Candidates) != c.candidates {
			t.Errorf("%v: %q, %d candidates", c.target, e.Message, len(e.Candidates))
		}
	}
	if n := len(b.Page(0).Actions()); n > 0 {
		t.Errorf("the page saw %d actions", n)
	}
}

func TestActHealsWhatWasRenderedAnew(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	page := b.Page(0)
	set(page, actortest.Button("Pay"), actortest.Button("Help"))
	read(t, tab, actor.ReadOptions{})
	first := tab.Head().Snapshot.Elements.Slice()[0].Ref
	set(page, actortest.Button("Pay"), actortest.Button("Help"))
	plan := turn.Turn{Steps: []turn.Step{click(first)}}
	actortest.WantKind(t, act(t, tab, plan).Results[0].Err, apierr.Stale)
	plan.Heal = true
	r := act(t, tab, plan).Results[0]
	if !r.Done || !r.Healed || !strings.HasPrefix(r.Summary, `click "Pay": ok on [`) || page.Actions()[0].Ref != r.Ref {
		t.Errorf("result is %+v", r)
	}
	// A hidden element is reported only as hidden, even if another element looks like it.
	hidden := actortest.Button("Hide me")
	set(page, hidden)
	read(t, tab, actor.ReadOptions{})
	ref := tab.Head().Snapshot.Elements.Slice()[0].Ref
	page.Update(func(f *actortest.Frame) {
		hidden.Off = true
		f.Body = append(f.Body, actortest.Button("Hide me"))
	})
	plan.Steps[0] = click(ref)
	e := actortest.WantKind(t, act(t, tab, plan).Results[0].Err, apierr.Stale)
	if !strings.Contains(e.Message, `it was: button "Hide me"`) || !strings.Contains(e.Message, "the nearest now: [") {
		t.Errorf("error is %v", e)
	}
}

func TestActNeverHealsAcrossDocuments(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	read(t, tab, actor.ReadOptions{})
	if _, err := tab.Reload(t.Context(), actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	e := actortest.WantKind(t, act(t, tab, turn.Turn{Heal: true, Steps: []turn.Step{click(0)}}).Results[0].Err, apierr.Stale)
	if e.Detail["was"] != `button "Pay"` || len(e.Candidates) != 1 || len(b.Page(0).Actions()) > 0 {
		t.Errorf("error is %v, %v", e, e.Detail)
	}
}

func TestActRefusesWhatHasBecomeSomethingElse(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	page := b.Page(0)
	row, buy := actortest.Link("Apple", "/apple"), actortest.Button("Buy")
	set(page, row, buy)
	told := read(t, tab, actor.ReadOptions{}).Head.Snapshot
	page.Update(func(*actortest.Frame) { row.Text, row.Href = "Pear", "/pear" })
	plan := turn.Turn{LastSeen: told, Steps: []turn.Step{click(told.Elements.Slice()[1].Ref)}}
	e := actortest.WantKind(t, act(t, tab, plan).Results[0].Err, apierr.Stale)
	if !strings.Contains(e.Message, "uses it for something else") || len(page.Actions()) > 0 {
		t.Errorf("error is %v", e)
	}
	plan.LastSeen = tab.Head().Snapshot
	if r := act(t, tab, plan).Results[0]; !r.Done {
		t.Errorf("result is %+v", r)
	}
}

func TestActEndsInTimeToSayWhatWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{})
		set(b.Page(0), actortest.Button("Pay"), onClick(actortest.Button("Hang"), (*actortest.Page).Hang))
		read(t, tab, actor.ReadOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		out, err := turn.Run(ctx, tab, turn.Turn{Steps: []turn.Step{at(byRole("", "Pay")), at(byRole("", "Hang")), at(byRole("", "Pay"))}})
		if err != nil || !out.Results[0].Done || out.Results[1].Done || !errors.Is(out.Results[2].Err, context.DeadlineExceeded) {
			t.Errorf("outcome is %+v, %v", out.Results, err)
		}
		if ctx.Err() != nil {
			t.Error("the answer is late")
		}
	})
}

func TestActSaysWhatWasDoneWhenItsPageIsLost(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	set(b.Page(0), actortest.Button("Pay"), onClick(actortest.Button("Crash"), func(p *actortest.Page) { p.Crash("oom") }))
	_, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{at(byRole("", "Pay")), at(byRole("", "Crash")), at(byRole("", "Pay"))}})
	e := actortest.WantKind(t, err, apierr.Lost)
	if !strings.Contains(e.Message, `click "Pay": ok`) || e.Detail["done"] != "1" {
		t.Errorf("error is %v, %v", e, e.Detail)
	}
}
