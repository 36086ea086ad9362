package actions

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/actions/steps"
	"github.com/domtap/domtap/internal/server/actions/uploads"
	"github.com/domtap/domtap/internal/server/dom/waits"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/reading"
	"github.com/domtap/domtap/internal/server/timeline"
)

// Service implements ActionService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedActionServiceServer
	// Access provides the only access to tabs.
	Access *authz.Access
	// Views records the views that callers have received.
	Views *tabview.Cache
	// Reader prints the effects of actions.
	Reader *reading.Reader
	// Uploads defines which files may be uploaded to pages.
	Uploads uploads.Policy
}

// Interact performs the steps of one turn.
func (s *Service) Interact(ctx context.Context, r *domtapv1.InteractRequest) (*domtapv1.InteractResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	plan, err := s.turnOf(tab, r)
	if err != nil {
		return nil, err
	}
	shared, who := s.Views.Of(tab), connections.Caller(ctx, r.GetClientId())
	last := shared.LastState(who)
	plan.LastSeen, plan.LastSeenMark = last.Snapshot, last.Mark
	outcome, err := turn.Run(ctx, tab, plan)
	if err == nil {
		s.account(ctx, tab, steps.Kinds(r.GetSteps()), &outcome)
		shared.SetState(who, tabview.State{Snapshot: outcome.After, Mark: outcome.Mark}) // also after a refused step: its error shows the element
		err = errorWithoutEffect(plan, outcome)
	}
	if err != nil {
		return nil, err
	}
	return answerOf(&outcome, s.form(ctx, tab, r, &outcome))
}

// account records the result of a turn in the timeline and in the usage figures.
func (s *Service) account(ctx context.Context, tab *actor.Tab, kinds []string, o *turn.Outcome) {
	call := timeline.Of(ctx)
	call.Acted(func(entry *domtapv1.TimelineTurn) { timeline.Record(entry, o) })
	for _, r := range o.Results {
		if r.Dialog != nil {
			call.Answered(messages.Dialog(r.Dialog))
		}
	}
	if note := metering.FromContext(ctx); note != nil {
		note.Steps(tally(kinds, o))
		note.SetPageCost(s.Views.Of(tab).Whole(o.After), false)
	}
}

// errorWithoutEffect returns the error of a turn that failed before it had an effect. Other failed turns are answered with the error in the
// result of the step, so that the effects of the turn are reported.
func errorWithoutEffect(plan turn.Turn, out turn.Outcome) error {
	if plan.URL != "" || !plan.StopOnError || plan.ShotOnError || len(out.Results) == 0 {
		return nil
	}
	hung := apierr.Is(out.Results[0].Err, apierr.Unresponsive) // the effect of the step is unknown
	if hung || out.Results[0].Delivered == driver.DeliveredPart {
		return nil
	}
	return out.Results[0].Err
}

// FillForm fills the fields of a form and submits it, as one turn.
func (s *Service) FillForm(ctx context.Context, r *domtapv1.FillFormRequest) (*domtapv1.FillFormResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	plan := formTurn(r, s.Uploads.Files)
	plan.Structural = isDense(r)
	shared, who := s.Views.Of(tab), connections.Caller(ctx, r.GetClientId())
	last := shared.LastState(who)
	plan.LastSeen, plan.LastSeenMark = last.Snapshot, last.Mark
	outcome, err := turn.Run(ctx, tab, plan)
	if err != nil {
		return nil, err
	}
	shared.SetState(who, tabview.State{Snapshot: outcome.After, Mark: outcome.Mark})
	s.account(ctx, tab, steps.FormKinds(r), &outcome)
	answer, err := answerOf(&outcome, s.form(ctx, tab, r, &outcome))
	if err != nil {
		return nil, err
	}
	return &domtapv1.FillFormResponse{
		Results: answer.GetResults(), Diff: answer.GetDiff(), Verdict: answer.GetVerdict(), Tab: answer.GetTab(), NewTabId: answer.GetNewTabId(),
		DiffText: answer.GetDiffText(), Outcome: answer.GetOutcome(),
	}, nil
}

// Perform performs one step of another service as one turn, and returns the answer that Interact would give. kind is the name of the step
// in timelines and usage figures.
func (s *Service) Perform(ctx context.Context, tab *actor.Tab, r Request, kind string, step turn.Step) (*turn.Outcome, *domtapv1.InteractResponse, error) {
	plan := turn.Turn{Steps: []turn.Step{step}, StopOnError: true, Structural: isDense(r)}
	shared, who := s.Views.Of(tab), connections.Caller(ctx, r.GetClientId())
	last := shared.LastState(who)
	plan.LastSeen, plan.LastSeenMark = last.Snapshot, last.Mark
	outcome, err := turn.Run(ctx, tab, plan)
	if err != nil {
		return nil, nil, err
	}
	s.account(ctx, tab, []string{kind}, &outcome)
	shared.SetState(who, tabview.State{Snapshot: outcome.After, Mark: outcome.Mark})
	answer, err := answerOf(&outcome, s.form(ctx, tab, r, &outcome))
	return &outcome, answer, err
}

// Request is implemented by InteractRequest, FillFormRequest and the requests that Perform serves.
type Request interface {
	GetTabId() string
	GetClientId() string
	GetFormat() domtapv1.Format
	GetBrief() bool
}

// isDense reports whether the answer to an action uses DENSE_DIFF.
func isDense(r Request) bool { return r.GetFormat() == domtapv1.Format_FORMAT_DENSE_DIFF }

// form returns the form of the diff. It depends on the request's format and on the caller's earlier reads.
func (s *Service) form(ctx context.Context, tab *actor.Tab, r Request, o *turn.Outcome) diffForm {
	shared, who := s.Views.Of(tab), connections.Caller(ctx, r.GetClientId())
	f := diffForm{Text: r.GetFormat() == domtapv1.Format_FORMAT_DIFF, Structural: shared.ListsStructural(who, o.After, isDense(r)),
		Contexts: shared.Contexts}
	if isDense(r) {
		f.Brief = r.GetBrief()
		e := s.Reader.Effect(ctx, tab, r.GetClientId(), reading.EffectForm{Structural: f.Structural, Brief: f.Brief})
		f.Print = func(o *turn.Outcome) string { return e.Print(ctx, o) }
		f.Again = e.Again
	}
	return f
}

// turnOf converts a valid request to a turn.
func (s *Service) turnOf(tab *actor.Tab, r *domtapv1.InteractRequest) (turn.Turn, error) {
	plan := turn.Turn{
		URL: r.GetUrl(), StopOnError: r.StopOnError == nil || r.GetStopOnError(), Heal: r.Heal == nil || r.GetHeal(),
		ShotOnError: r.GetScreenshotOnError(), Structural: isDense(r),
	}
	for i, step := range r.GetSteps() {
		action, err := s.turnAction(tab, step, fmt.Sprintf("steps[%d]", i))
		if err != nil {
			return turn.Turn{}, err
		}
		plan.Steps = append(plan.Steps, action)
	}
	return plan, nil
}

// turnAction converts a step to the turn's step. field is the path of the step in the request.
func (s *Service) turnAction(tab *actor.Tab, step *domtapv1.Step, field string) (made turn.Step, err error) {
	switch a := step.GetAction().(type) {
	case *domtapv1.Step_Wait:
		return turn.Step{Wait: waits.Step(tab, s.Views.Of(tab), a.Wait, field+".wait")}, nil
	case *domtapv1.Step_Read:
		return turn.Step{Read: s.turnRead(tab, a.Read)}, nil
	case *domtapv1.Step_Screenshot:
		return turn.Step{Shot: s.turnShot(tab, a.Screenshot)}, nil
	case *domtapv1.Step_Back:
		return turn.Step{Back: true}, nil
	case *domtapv1.Step_Dialog:
		return turn.Step{Dialog: &driver.DialogAnswer{ID: a.Dialog.GetDialogId(), Accept: a.Dialog.GetAccept(), Text: a.Dialog.PromptText}}, nil
	}
	for i, a := range steps.Actions(step) {
		if a.Paths, err = s.Uploads.Files(a.Paths); err != nil {
			return made, err
		}
		if i > 0 {
			made.Then = append(made.Then, a)
			continue
		}
		made.Action, made.Target = a, steps.TargetOf(step)
		made.Toward = steps.Target(step.GetDrag().GetTo())
		for _, waypoint := range steps.Waypoints(step) {
			made.Along = append(made.Along, steps.Target(waypoint))
		}
	}
	return made, nil
}
