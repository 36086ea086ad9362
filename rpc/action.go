package rpc

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/diff"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/check"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/rpc/steps"
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
	turn, sizes, err := s.turnOf(tab, r)
	if err != nil {
		return nil, err
	}
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
func (s *actionService) turnOf(tab *actor.Tab, r *domtapv1.InteractRequest) (turn actor.Turn, sizes []int, err error) {
	turn = actor.Turn{URL: r.GetUrl(), StopOnError: r.StopOnError == nil || r.GetStopOnError()}
	for i, step := range r.GetSteps() {
		if w := step.GetWait(); w != nil {
			turn.Actions = append(turn.Actions, actor.TurnAction{Wait: s.server.turnWait(tab, w, fmt.Sprintf("steps[%d].wait", i))})
			sizes = append(sizes, 1)
			continue
		}
		actions := steps.Actions(step)
		sizes = append(sizes, len(actions))
		for _, a := range actions {
			if a.Paths, err = s.server.cfg.Uploads.Files(a.Paths); err != nil {
				return actor.Turn{}, nil, err
			}
			turn.Actions = append(turn.Actions, actor.TurnAction{Action: a})
		}
	}
	return turn, sizes, nil
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
