package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func statsCommand(a *app) *cobra.Command {
	request := new(domtapv1.GetStatsRequest)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what went out to clients: calls, tokens, what was saved, times, steps",
		Long: `Show what the daemon has counted since it started, as tables: for each method its calls, the tokens of its
answers, what the whole page would have cost instead, and how long calls took; how steps of actions went; how often a
page lay ready; and the open sessions and tabs. What is closed counts for its session, and for the daemon.

TOKENS are counted exactly, ~TOKENS and ~FULL are estimates; docs/stats.md says how.`,
		Example: "  domtap stats\n  domtap stats --session work\n  domtap stats -o json | jq .total.reads",
		Args:    cobra.NoArgs,
	}
	a.common.register(cmd)
	a.sessionFlag(cmd, &request.SessionId, "only this session")
	cmd.Flags().StringVarP(&request.TabId, "tab", "t", "", "only this tab")
	_ = cmd.RegisterFlagCompletionFunc("tab", a.completeTabs) // the flag exists
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		answer, err := domtapv1.NewStatsServiceClient(c.conn).GetStats(ctx, request)
		if err != nil {
			return err
		}
		return a.printer().show(answer, func() string { return render.Stats(answer) })
	})
	return cmd
}
