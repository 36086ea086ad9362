package actcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// MaxSteps limits the steps of one turn, as the protos define it.
const MaxSteps = 32

// ParseSteps returns the steps of an action from the words of its command, such as click Save --count 2. The words must have passed
// cli.App.Check. It returns none without an error if the words are no action, if they contain a flag that no step has, or if they need
// standard input. Such a line runs as a command of its own.
func ParseSteps(words []string) ([]*domtapv1.Step, error) {
	if words[0] == "mouse" {
		return parseMouse(words[1:])
	}
	for i := range actions {
		if actions[i].name == words[0] {
			step, err := actions[i].parse(words[1:])
			if step == nil {
				return nil, err
			}
			return []*domtapv1.Step{step}, nil
		}
	}
	return nil, nil
}

// parse returns the step of an action from the arguments of its command.
func (a *action) parse(words []string) (*domtapv1.Step, error) {
	cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	stdin := false
	step := a.bind(cmd, func(argument string) (string, error) {
		stdin = argument == "-"
		return argument, nil
	})
	args, common, err := cli.ParseAlone(cmd, words)
	if err != nil {
		return nil, nil // a flag that only the command has, such as --each
	}
	if err := cmd.Args(cmd, args); err != nil {
		return nil, err
	}
	message, err := step(args)
	if err != nil || stdin || common {
		return nil, err
	}
	return message, nil
}

// Turn returns the command that performs several steps in one call. words holds the command line of each step. The output omits everything
// that the command next prints when it reads the page or, after a failure of the page with app.PageFollows, that snapshot prints. If each is
// set, every change is listed. The error of a failed step names the step and the number of steps not done.
func Turn(app *cli.App, words []string, steps []*domtapv1.Step, next string, each bool) *cobra.Command {
	cmd := app.TabCommand(&cobra.Command{Use: "turn", SilenceUsage: true, SilenceErrors: true})
	cmd.RunE = app.WithClientFor(noLimit, func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := interact(ctx, app, c, steps, each)
		if err != nil {
			return ofFirst(err, words)
		}
		failed := failedStep(answer.GetResults(), words)
		if failed != nil { // the next command does not run
			next = ""
			if e, ok := errors.AsType[*exit.Error](failed); ok && app.PageFollows && exit.OfPage(e.Code) {
				next = "snapshot"
			}
		}
		if next != "" && !app.Printer().JSON {
			leaveTo(next, answer)
		}
		if err := app.Printer().ShowDiff(answer, render.Outcome(answer)); err != nil {
			return err
		}
		return failed
	})
	return cmd
}

// leaveTo removes from an answer what the next command, which reads the page, will print.
func leaveTo(next string, answer *domtapv1.InteractResponse) {
	answer.Diff, answer.DiffText = nil, ""
	if next != "extract" && answer.GetVerdict() == domtapv1.Verdict_VERDICT_NAVIGATED {
		answer.Verdict = domtapv1.Verdict_VERDICT_CHANGED // the next command prints the page's URL
	}
	answer.Outcome = slices.DeleteFunc(answer.GetOutcome(), func(o *domtapv1.Outcome) bool {
		kind := o.GetKind()
		return kind == domtapv1.OutcomeKind_OUTCOME_KIND_HEADING || kind == domtapv1.OutcomeKind_OUTCOME_KIND_TEXT && next == "read"
	})
	if next == "find" || next == "extract" {
		answer.Outcome = withFewTexts(answer.GetOutcome())
	}
}

// manyTexts is the minimum number of new texts of which only the first is printed if the next command searches the page.
const manyTexts = 5

// withFewTexts removes all new texts but the first if there are many, and adds the number of the others to the first.
func withFewTexts(outcome []*domtapv1.Outcome) []*domtapv1.Outcome {
	var first *domtapv1.Outcome
	others := 0
	rest := slices.DeleteFunc(slices.Clone(outcome), func(o *domtapv1.Outcome) bool {
		if o.GetKind() != domtapv1.OutcomeKind_OUTCOME_KIND_TEXT {
			return false
		}
		more := 0
		if _, err := fmt.Sscanf(o.GetDetail(), "%d more", &more); err != nil {
			more = 0
		}
		if first == nil {
			first, others = o, more
			return false
		}
		others += 1 + more
		return true
	})
	if 1+others < manyTexts {
		return outcome
	}
	first.Detail = fmt.Sprintf("%d more", others)
	return rest
}

// failedStep returns the error of the first step that failed.
func failedStep(results []*domtapv1.StepResult, words []string) error {
	for i, result := range results {
		if result.GetOk() {
			continue
		}
		return exit.FromReason(result.GetReason(), placed(result.GetError(), words, i))
	}
	return nil
}

// ofFirst adds the first step to the error of a call that did nothing because this step failed.
func ofFirst(err error, words []string) error {
	s := status.Convert(err)
	if s.Code() != codes.FailedPrecondition {
		return err
	}
	p := s.Proto()
	p.Message = placed(p.GetMessage(), words, 0)
	return status.ErrorProto(p)
}

// placed adds the failed step and the number of steps not done to its message.
func placed(message string, words []string, at int) string {
	if len(words) == 1 {
		return message
	}
	message = words[at] + ": " + message
	if left := len(words) - at - 1; left > 0 {
		message += "; " + plural.Of(left, "step") + " after it not done"
	}
	return message
}
