package actcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Dialog returns the command dialog.
func Dialog(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dialog accept [TEXT] | dismiss",
		Short: "Answer an open alert, confirm, prompt or beforeunload dialog",
		Long: `Answer the JavaScript dialog that a page has opened: an alert, confirm or prompt, or the question
whether to leave the page (beforeunload). The page is blocked until the dialog is answered. domtap tabs
shows such a tab with the status dialog. domtap serve --dialogs accept (or dismiss) answers all dialogs
immediately.`,
		Example: "  domtap dialog accept\n  domtap dialog accept \"Ada\"\n  domtap dialog dismiss",
		Args:    cli.Args(),
		RunE: func(*cobra.Command, []string) error {
			return errors.New("missing accept or dismiss")
		},
	}
	cmd.AddCommand(answerCommand(a, "accept [TEXT]", "Press OK or Leave; TEXT answers a prompt (default: the prompt's default)", true),
		answerCommand(a, "dismiss", "Press Cancel or Stay", false))
	cli.OnlySubcommands(cmd)
	return cmd
}

// answerCommand returns the subcommand accept or dismiss.
func answerCommand(a *cli.App, use, short string, accept bool) *cobra.Command {
	var id uint64
	cmd := a.TabCommand(&cobra.Command{Use: use, Short: short, Args: cli.Args()})
	if accept {
		cmd.Args = cli.Args("[TEXT]")
	}
	var each bool
	a.EachFlag(cmd, &each)
	cmd.Flags().Uint64Var(&id, "id", 0, "answer only the dialog with this ID (default: the open dialog)")
	cmd.RunE = a.WithClientFor(noLimit, func(ctx context.Context, c *cli.Client, args []string) error {
		step := &domtapv1.DialogStep{Accept: accept, DialogId: id}
		if len(args) == 1 {
			step.PromptText = &args[0]
		}
		answer, err := interact(ctx, a, c, []*domtapv1.Step{{Action: &domtapv1.Step_Dialog{Dialog: step}}}, each)
		if err != nil {
			return err
		}
		return printOutcome(a.Printer(), answer)
	})
	return cmd
}
