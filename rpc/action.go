package rpc

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/check"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/view"
)

// maxListed is how many elements of each kind the diff of an action lists.
const maxListed = 50

type actionService struct {
	domtapv1.UnimplementedActionServiceServer
	server *Server
}

// Interact does the steps of one turn.
func (s *actionService) Interact(ctx context.Context, r *domtapv1.InteractRequest) (*domtapv1.InteractResponse, error) {
	tab, err := s.server.pool.Tab(r.GetTabId())
	if err != nil {
		return nil, err
	}
	turn, sizes := s.turnOf(tab, r)
	outcome, err := tab.Act(ctx, turn)
	if err == nil {
		err = nothingDone(turn, outcome)
	}
	if err != nil {
		return nil, err
	}
	changes, err := effect(outcome)
	if err != nil {
		return nil, err
	}
	return &domtapv1.InteractResponse{
		Results: results(outcome.Results, sizes),
		Diff:    changes,
		Verdict: convert.Verdict(outcome.Verdict),
		Tab:     convert.Tab(outcome.Info),
	}, nil
}

// nothingDone is the error of a turn that failed before it did anything. One that did something is
// answered, with the error in its step's result, so that what it did is not lost.
func nothingDone(turn actor.Turn, out actor.Outcome) error {
	if turn.URL != "" || !turn.StopOnError || len(out.Results) == 0 {
		return nil
	}
	return out.Results[0].Err
}

// FillForm is not there yet.
func (s *actionService) FillForm(context.Context, *domtapv1.FillFormRequest) (*domtapv1.FillFormResponse, error) {
	return nil, &check.Unsupported{Field: "FillForm", Instead: "use Interact with a fill step for each field, by ref"}
}

// turnOf makes the actor's turn, and says how many actions each step has become.
func (s *actionService) turnOf(tab *actor.Tab, r *domtapv1.InteractRequest) (turn actor.Turn, sizes []int) {
	turn = actor.Turn{URL: r.GetUrl(), StopOnError: r.StopOnError == nil || r.GetStopOnError()}
	for i, step := range r.GetSteps() {
		if w := step.GetWait(); w != nil {
			turn.Actions = append(turn.Actions, actor.TurnAction{Wait: s.server.turnWait(tab, w, fmt.Sprintf("steps[%d].wait", i))})
			sizes = append(sizes, 1)
			continue
		}
		actions := actionsOf(step)
		sizes = append(sizes, len(actions))
		for _, a := range actions {
			turn.Actions = append(turn.Actions, actor.TurnAction{Action: a})
		}
	}
	return turn, sizes
}

// actionsOf makes the actions of a step that package check let pass.
func actionsOf(s *domtapv1.Step) []actor.Action {
	switch a := s.GetAction().(type) {
	case *domtapv1.Step_Click:
		return []actor.Action{{
			Kind: actor.Click, Ref: refOf(a.Click), Button: a.Click.GetButton(), Modifiers: a.Click.GetModifiers(), Clicks: 1,
		}}
	case *domtapv1.Step_DoubleClick:
		return []actor.Action{{Kind: actor.Click, Ref: refOf(a.DoubleClick), Clicks: 2}}
	case *domtapv1.Step_Hover:
		return []actor.Action{{Kind: actor.Hover, Ref: refOf(a.Hover)}}
	case *domtapv1.Step_Type:
		actions := []actor.Action{{Kind: actor.Type, Ref: refOf(a.Type), Text: a.Type.GetText()}}
		if a.Type.GetSubmit() {
			actions = append(actions, actor.Action{Kind: actor.Press, Ref: refOf(a.Type), Text: "Enter"})
		}
		return actions
	case *domtapv1.Step_Fill:
		return []actor.Action{{Kind: actor.Fill, Ref: refOf(a.Fill), Text: a.Fill.GetText()}}
	case *domtapv1.Step_Press:
		return []actor.Action{{Kind: actor.Press, Ref: refOf(a.Press), Text: a.Press.GetKey()}}
	case *domtapv1.Step_Scroll:
		return []actor.Action{{Kind: actor.Scroll, Ref: refOf(a.Scroll)}}
	}
	return nil
}

// refOf returns the ref of a step's target, or dom.NoRef when it has none.
func refOf(step interface{ GetTarget() *domtapv1.Target }) dom.Ref {
	target := step.GetTarget()
	if target == nil || target.Ref == nil {
		return dom.NoRef
	}
	return dom.Ref(target.GetRef())
}

// results tells how the steps went, of which each took as many of the actions as sizes says.
func results(actions []actor.ActionResult, sizes []int) []*domtapv1.StepResult {
	out := make([]*domtapv1.StepResult, len(sizes))
	for i, n := range sizes {
		out[i] = stepResult(actions[:n])
		actions = actions[n:]
	}
	return out
}

// stepResult is the first action that was not done, or else the first.
func stepResult(actions []actor.ActionResult) *domtapv1.StepResult {
	for _, a := range actions {
		if a.Err != nil {
			return &domtapv1.StepResult{Summary: a.Summary, Error: a.Err.Error(), Reason: reasonOf(a.Err)}
		}
		if !a.Done {
			return &domtapv1.StepResult{Summary: a.Summary, Error: "skipped, because an earlier action failed: mend that and send this step again"}
		}
	}
	if len(actions) == 0 {
		return new(domtapv1.StepResult)
	}
	return &domtapv1.StepResult{Ok: true, Summary: actions[0].Summary}
}

// effect says what a turn did to the elements of the page.
func effect(o actor.Outcome) (*domtapv1.Diff, error) {
	// A view without filters still leaves out the attributes that other callers asked for.
	before, err := view.Of(o.Before, view.Options{})
	if err != nil {
		return nil, err
	}
	after, err := view.Of(o.After, view.Options{})
	if err != nil {
		return nil, err
	}
	d := convert.Visible(diff.Between(before.Elements, after.Elements))
	d.From, d.To = o.Before.Revision, o.After.Revision
	return convert.Diff(d, maxListed), nil
}
