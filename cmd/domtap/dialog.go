package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func dialogCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dialog accept [TEXT] | dismiss",
		Short: "Answer the alert, confirm, prompt or beforeunload dialog that a page has opened",
		Long: `Answer the JavaScript dialog that a page has opened: alert, confirm, prompt, or the question
whether to leave the page (beforeunload). The page stands still until it is answered; domtap tabs
shows such tabs with the status dialog. domtap serve --dialogs accept (or dismiss) answers them all
at once.`,
		Example: "  domtap dialog accept\n  domtap dialog accept \"Ada\"\n  domtap dialog dismiss",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("say how: %s accept, or %[1]s dismiss", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.answerCommand("accept [TEXT]", "Press OK (or Leave), with TEXT as the answer to a prompt (default: the prompt's own)", true),
		a.answerCommand("dismiss", "Press Cancel (or Stay)", false))
	onlyCommands(cmd)
	return cmd
}

// answerCommand is one of the two answers.
func (a *app) answerCommand(use, short string, accept bool) *cobra.Command {
	var id uint64
	cmd := a.tabCommand(&cobra.Command{Use: use, Short: short, Args: cobra.NoArgs})
	if accept {
		cmd.Args = cobra.MaximumNArgs(1)
	}
	cmd.Flags().Uint64Var(&id, "id", 0, "answer only the dialog with this id (default: whichever is open)")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		tab, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.AnswerDialogRequest{TabId: tab, Accept: accept, DialogId: id}
		if len(args) == 1 {
			request.PromptText = &args[0]
		}
		answer, err := c.tabs.AnswerDialog(ctx, request)
		if err != nil {
			return err
		}
		if a.common.output.value == outputJSON {
			return a.printer().message(answer)
		}
		return a.printer().text(render.Dialog(answer.GetDialog()) + "\n")
	})
	return cmd
}
