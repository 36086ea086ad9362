package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// completionLimit is how long the shell may wait for candidates.
const completionLimit = time.Second

// asking wraps a completion that needs the daemon. It never starts one, and stays silent on errors.
func (a *app) asking(cmd *cobra.Command, ask func(ctx context.Context, c *client) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	if fromEnv(cmd.Flags(), a.env) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	to, err := a.target()
	if err != nil || !to.Answers(cmd.Context()) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.dial(to)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = c.conn.Close() }()
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	candidates, err := ask(ctx, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return candidates, cobra.ShellCompDirectiveNoFileComp
}

// completeTabs offers the ids of the open tabs, with their titles.
func (a *app) completeTabs(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.asking(cmd, func(ctx context.Context, c *client) ([]cobra.Completion, error) {
		answer, err := c.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
		var found []cobra.Completion
		for _, tab := range answer.GetTabs() {
			if strings.HasPrefix(tab.GetId(), prefix) {
				found = append(found, cobra.CompletionWithDesc(tab.GetId(), render.Cell(tab.GetTitle(), 50)))
			}
		}
		return found, err
	})
}

// completeRefs offers the refs of the page, with the names of their elements. Only the first argument
// is a ref.
func (a *app) completeRefs(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.asking(cmd, func(ctx context.Context, c *client) ([]cobra.Completion, error) {
		id, err := c.tabID(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := c.dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: id})
		var found []cobra.Completion
		for _, e := range answer.GetElements() {
			if text := strconv.FormatUint(uint64(e.GetRef()), 10); strings.HasPrefix(text, prefix) {
				found = append(found, cobra.CompletionWithDesc(text, render.Cell(render.Kind(e)+" "+e.GetText(), 50)))
			}
		}
		return found, err
	})
}
