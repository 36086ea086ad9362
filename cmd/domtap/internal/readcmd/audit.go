package readcmd

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Audit returns the command audit.
func Audit(a *cli.App) *cobra.Command {
	var errorsOnly, fail bool
	var maxTokens, maxFindings int32
	cmd := a.TabCommand(&cobra.Command{
		Use:   "audit [TAB]",
		Short: "Report barriers to accessibility, and web vitals",
		Long: `Check a page for barriers to people who use a keyboard or a screen reader: controls without names, images without
alternative texts, low contrast, small or covered targets and others, each with its success criterion of WCAG 2.2 and the ref of
the element. The report begins with the web vitals that the browser has measured. No finding is no proof: most criteria need a person.`,
		Example:           "  domtap audit\n  domtap audit --errors --fail\n  domtap audit --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteTabs,
	})
	f := cmd.Flags()
	f.BoolVar(&errorsOnly, "errors", false, "leave out warnings")
	f.BoolVar(&fail, "fail", false, "end with exit code 1 when there are errors")
	f.Int32Var(&maxTokens, "max-tokens", 2000, "how long the text may be, 200 to 50000")
	f.Int32Var(&maxFindings, "max-findings", 200, "how many findings, 1 to 1000")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if len(args) == 1 {
			c.Tab = args[0]
		}
		tab, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		r := &domtapv1.AuditRequest{TabId: tab, ErrorsOnly: errorsOnly}
		if f.Changed("max-tokens") {
			r.MaxTokens = proto.Int32(maxTokens)
		}
		if f.Changed("max-findings") {
			r.MaxFindings = proto.Int32(maxFindings)
		}
		answer, err := c.Pages.Audit(ctx, r)
		if err != nil {
			return err
		}
		if err := a.Printer().Show(answer, answer.GetText); err != nil {
			return err
		}
		if n := answer.GetErrors(); fail && n > 0 {
			return exit.Errorf(exit.Failure, "", "the page has %s", plural.Of(n, "error"))
		}
		return nil
	})
	return cmd
}
