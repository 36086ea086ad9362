package daemoncmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Stats returns the command stats.
func Stats(a *cli.App) *cobra.Command {
	request := new(domtapv1.GetStatsRequest)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Print usage figures: calls, tokens, savings, latencies, steps",
		Long: `Print what the daemon has counted since it started, as tables. For each method, the tables show its calls, the
tokens of its responses, the tokens that whole pages would have cost instead, and the latencies. They also
show the results of action steps, the cache hits of reads, and the open sessions and tabs. A closed tab
still counts for its session, and a closed session for the daemon.

TOKENS are exact counts. ~TOKENS and ~FULL are estimates. See docs/stats.md.`,
		Example: "  domtap stats\n  domtap stats --session work\n  domtap stats --json | jq .total.reads",
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &request.SessionId, "only the figures of this session")
	cmd.Flags().StringVarP(&request.TabId, "tab", "t", "", "only the figures of this tab")
	_ = cmd.RegisterFlagCompletionFunc("tab", a.CompleteTabs) // the flag exists
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := domtapv1.NewStatsServiceClient(c.Conn).GetStats(ctx, request)
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return render.Stats(answer) })
	})
	return cmd
}
