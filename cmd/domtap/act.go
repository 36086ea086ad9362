package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/acts"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// actCommand makes the command of an act.
func actCommand(act *acts.Act) func(*app) *cobra.Command {
	return func(a *app) *cobra.Command {
		cmd := &cobra.Command{Use: act.Name, Short: act.Short, Long: act.Long, Example: act.Example, ValidArgsFunction: a.completeRefs}
		step := act.Bind(cmd, a.typedText)
		a.tabCommand(cmd)
		cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
			one, err := step(args)
			if err != nil {
				return err
			}
			id, err := c.tabID(ctx)
			if err != nil {
				return err
			}
			answer, err := c.actions.Interact(ctx, &domtapv1.InteractRequest{TabId: id, Steps: []*domtapv1.Step{one}, ClientId: c.id})
			if err != nil {
				return err
			}
			return a.printer().outcome(answer)
		})
		return cmd
	}
}

// typedText is the argument, or standard input without its last line break.
func (a *app) typedText(argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	text, err := io.ReadAll(a.in)
	if err != nil {
		return "", exit.Errorf(exit.Failure, "", "read the text from standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// outcome prints what an action did, also when one of its steps failed.
func (p *printer) outcome(answer *domtapv1.InteractResponse) error {
	var err error
	if p.json {
		err = p.message(answer)
	} else {
		err = p.diff(render.Outcome(answer))
	}
	if err != nil {
		return err
	}
	for _, result := range answer.GetResults() {
		if !result.GetOk() {
			return exit.OfReason(result.GetReason(), result.GetError())
		}
	}
	return nil
}
