package main

import (
	"context"

	"github.com/spf13/cobra"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func restoreCommand(a *app) *cobra.Command {
	var off bool
	cmd := a.tabCommand(&cobra.Command{
		Use:   "restore",
		Short: "Bring a tab back when its renderer, its browser or the daemon dies",
		Long: `Bring the tab back, from now on, when its renderer or its browser dies, or the daemon is killed and
started again: under the same id, at its URL, scrolled to where it was. What was typed is lost, and refs
are new ones. domtap open --restore does it from the start. Prints the tab.`,
		Example: "  domtap restore --tab t3\n  domtap restore --off",
		Args:    cobra.NoArgs,
	})
	cmd.Flags().BoolVar(&off, "off", false, "do not bring it back any more")
	cmd.RunE = a.moving(func(ctx context.Context, c *client, id string, _ []string) (*domtapv1.Tab, error) {
		answer, err := c.tabs.SetRestore(ctx, &domtapv1.SetRestoreRequest{TabId: id, Restore: !off})
		return answer.GetTab(), err
	})
	return cmd
}
