package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func restoreCommand(a *app) *cobra.Command {
	var on, off bool
	cmd := a.tabCommand(&cobra.Command{
		Use:   "restore",
		Short: "Say whether a tab is brought back when its page is lost, or switch that on or off",
		Long: `Say whether a tab is brought back, and switch that with --on or --off. A tab that is brought back comes back
when its renderer or its browser dies, or the daemon is killed and started again: under the same id, at its
URL, scrolled to where it was. What was typed is lost, and refs are new ones. domtap open --restore switches
it on from the start. Without a flag nothing is changed.`,
		Example: "  domtap restore\n  domtap restore --on --tab t3\n  domtap restore --off",
		Args:    cobra.NoArgs,
	})
	cmd.Flags().BoolVar(&on, "on", false, "bring it back from now on")
	cmd.Flags().BoolVar(&off, "off", false, "do not bring it back any more")
	cmd.MarkFlagsMutuallyExclusive("on", "off")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		tab, err := c.setRestore(ctx, id, on, off)
		if err != nil {
			return err
		}
		if err := c.memory.Restored(id, tab.GetRestore()); err != nil {
			a.warn(err)
		}
		return a.printer().show(tab, func() string { return render.Restore(tab) })
	})
	return cmd
}

// setRestore switches whether a tab is brought back, or only asks for the tab.
func (c *client) setRestore(ctx context.Context, id string, on, off bool) (*domtapv1.Tab, error) {
	if !on && !off {
		answer, err := c.tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: id})
		return answer.GetTab(), err
	}
	answer, err := c.tabs.SetRestore(ctx, &domtapv1.SetRestoreRequest{TabId: id, Restore: on})
	return answer.GetTab(), err
}
