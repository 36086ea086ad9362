// Package tabcmd provides the commands on tabs: open, list, navigate, close and restore.
package tabcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Tabs returns the command tabs.
func Tabs(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:     "tabs",
		Short:   "List the open tabs, oldest first",
		Long:    "List the open tabs, oldest first. With --json, print one Tab per line.",
		Example: "  domtap tabs\n  domtap tabs --json | jq -r .id",
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &session, "only the tabs of this session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{SessionId: session})
		if err != nil {
			return err
		}
		return printTabs(a, answer.GetTabs()...)
	})
	return cmd
}

// printTabs prints tabs as a table with a heading.
func printTabs(a *cli.App, tabs ...*domtapv1.Tab) error {
	return cli.ShowEach(a.Printer(), tabs, func(tabs []*domtapv1.Tab) string {
		if len(tabs) == 0 {
			return "no tab is open; open one with domtap open URL\n"
		}
		return render.Tabs(tabs)
	})
}

// Close returns the command close.
func Close(a *cli.App) *cobra.Command {
	cmd := a.TabCommand(&cobra.Command{
		Use:   "close [TAB…]",
		Short: "Close tabs, by default the tab of this terminal",
		Long: `Close tabs, even if they hang. Without TAB, close the tab of --tab or DOMTAP_TAB, otherwise the tab that this
terminal opened last, otherwise the only tab. If there are several candidates, the command fails with exit
code 2 and requires --tab. Afterwards, the terminal uses the tab that it opened before.`,
		Example:           "  domtap close\n  domtap close t3 t4",
		ValidArgsFunction: a.CompleteTabs,
	})
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if len(args) == 0 {
			id, err := c.TabID(ctx)
			if err != nil {
				return err
			}
			args = []string{id}
		}
		for _, id := range args {
			if _, err := c.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: id}); err != nil {
				return err
			}
			if err := c.Memory.Closed(id); err != nil {
				a.Warn(err)
			}
		}
		return nil
	})
	return cmd
}
