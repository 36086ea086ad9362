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
		Short: "Report accessibility problems and web vitals",
		Long: `Check a page for accessibility problems, such as controls without names, images without alternative text, low
contrast, and small or covered targets. Each finding has its WCAG 2.2 success criterion and the ref of the
element. The report begins with the web vitals that the browser measured. A page without findings may still
have problems, because most criteria need a human check.`,
		Example:           "  domtap audit\n  domtap audit --errors --fail\n  domtap audit --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteTabs,
	})
	f := cmd.Flags()
	f.BoolVar(&errorsOnly, "errors", false, "omit warnings")
	f.BoolVar(&fail, "fail", false, "exit with code 1 if there are errors")
	f.Int32Var(&maxTokens, "max-tokens", 2000, "maximum number of tokens of the text, 200 to 50000")
	f.Int32Var(&maxFindings, "max-findings", 200, "maximum number of findings, 1 to 1000")
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
