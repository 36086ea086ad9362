package tabcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Restore returns the command restore.
func Restore(a *cli.App) *cobra.Command {
	var on, off bool
	cmd := a.TabCommand(&cobra.Command{
		Use:   "restore",
		Short: "Show or change whether a tab is restored after a crash",
		Long: `Show whether a tab is restored, or change it with --on or --off. A restored tab is opened again after its
renderer or browser crashed, or after the daemon was killed and restarted. It keeps its ID, its URL and its
scroll position. Typed text is lost, and refs are new. domtap open --restore turns the setting on for a new
tab.`,
		Example: "  domtap restore\n  domtap restore --on --tab t3\n  domtap restore --off",
		Args:    cli.Args(),
	})
	cmd.Flags().BoolVar(&on, "on", false, "restore the tab")
	cmd.Flags().BoolVar(&off, "off", false, "do not restore the tab")
	cmd.MarkFlagsMutuallyExclusive("on", "off")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		tab, err := setRestore(ctx, c, id, on, off)
		if err != nil {
			return err
		}
		if err := c.Memory.Restored(id, tab.GetRestore()); err != nil {
			a.Warn(err)
		}
		return a.Printer().Show(tab, func() string { return render.Restore(tab) })
	})
	return cmd
}

// setRestore changes whether a tab is restored. If neither on nor off is set, it only returns the tab.
func setRestore(ctx context.Context, c *cli.Client, id string, on, off bool) (*domtapv1.Tab, error) {
	if !on && !off {
		answer, err := c.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: id})
		return answer.GetTab(), err
	}
	answer, err := c.Tabs.SetRestore(ctx, &domtapv1.SetRestoreRequest{TabId: id, Restore: on})
	return answer.GetTab(), err
}
