package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func tabsCommand(a *app) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:     "tabs",
		Short:   "List the open tabs, oldest first",
		Long:    "List the open tabs, oldest first. With -o json one Tab per line.",
		Example: "  domtap tabs\n  domtap tabs -o json | jq -r .id",
		Args:    cobra.NoArgs,
	}
	a.common.register(cmd)
	a.sessionFlag(cmd, &session, "only the tabs of this session")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		answer, err := c.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{SessionId: session})
		if err != nil {
			return err
		}
		return a.printer().tabs(answer.GetTabs())
	})
	return cmd
}

func closeCommand(a *app) *cobra.Command {
	cmd := a.tabCommand(&cobra.Command{
		Use:   "close [TAB…]",
		Short: "Close tabs; without TAB the one of this terminal",
		Long: `Close tabs, also ones that hang. Without TAB it closes the tab of --tab or DOMTAP_TAB, else the one that this
terminal opened last, else the only one. When there is a choice it asks for --tab (exit code 2). Afterwards
the terminal works on the tab that it opened before.`,
		Example:           "  domtap close\n  domtap close t3 t4",
		ValidArgsFunction: a.completeTabs,
	})
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		if len(args) == 0 {
			id, err := c.tabID(ctx)
			if err != nil {
				return err
			}
			args = []string{id}
		}
		for _, id := range args {
			if _, err := c.tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: id}); err != nil {
				return err
			}
			if err := c.memory.Closed(id); err != nil {
				a.warn(err)
			}
		}
		return nil
	})
	return cmd
}

// tabs prints one line per tab, with a heading on top.
func (p *printer) tabs(tabs []*domtapv1.Tab) error {
	if p.json {
		for _, tab := range tabs {
			if err := p.message(tab); err != nil {
				return err
			}
		}
		return nil
	}
	if len(tabs) == 0 {
		return p.text("no tab is open; open one with: domtap open URL\n")
	}
	return p.text(render.Tabs(tabs))
}

// waits are the words of --wait. The first is the default.
var waits = map[string]domtapv1.WaitUntil{
	"load":               domtapv1.WaitUntil_WAIT_UNTIL_LOAD,
	"commit":             domtapv1.WaitUntil_WAIT_UNTIL_COMMIT,
	"dom_content_loaded": domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED,
	"network_idle":       domtapv1.WaitUntil_WAIT_UNTIL_NETWORK_IDLE,
}

func waitFlag(cmd *cobra.Command, c *choice) {
	choiceFlag(cmd, c, "wait", "w", "when the page counts as loaded", "load", "commit", "dom_content_loaded", "network_idle")
}

// longestNavigation is the most that the daemon accepts.
const longestNavigation = 5 * time.Minute

// navigationTimeout is what the daemon is told.
func (a *app) navigationTimeout() *durationpb.Duration {
	limit := a.common.timeout
	if limit == 0 || limit > longestNavigation {
		limit = longestNavigation
	}
	return durationpb.New(limit)
}
