package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// memory is what this terminal opened at a daemon; nil where there is no place to remember it.
func (a *app) memory(to endpoint.Target) *terminal.Memory {
	at, err := a.places()
	if err != nil {
		return nil
	}
	return terminal.Of(at.State, to.String(), a.terminal())
}

// tabID is the tab to work on: the one of --tab or DOMTAP_TAB, the one that this terminal opened last, or the only one. It
// never falls to a tab that another program may work in while there is a choice.
func (c *client) tabID(ctx context.Context) (string, error) {
	if c.tab != "" {
		return c.tab, nil
	}
	answer, err := c.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		return "", err
	}
	tabs := answer.GetTabs()
	if len(tabs) == 0 {
		return "", exit.Errorf(exit.NotFound, "open one first: domtap open URL", "no tab is open")
	}
	own := c.memory.Load()
	if last, opened := own.Last(); opened {
		return ownTab(last, own.Daemon == answer.GetDaemonId(), tabs)
	}
	if len(tabs) > 1 {
		return "", exit.Errorf(exit.Usage, otherTab(tabs), "missing --tab: %d tabs are open, and this terminal opened none of them: %s", len(tabs), tabList(tabs))
	}
	return tabs[0].GetId(), nil
}

// ownTab is the tab that a terminal opened last, if it is still open.
func ownTab(last terminal.Tab, sameDaemon bool, tabs []*domtapv1.Tab) (string, error) {
	open := slices.ContainsFunc(tabs, func(tab *domtapv1.Tab) bool {
		return tab.GetId() == last.ID && (sameDaemon || last.Restored && tab.GetRestore())
	})
	switch {
	case open:
		return last.ID, nil
	case sameDaemon:
		return "", exit.Errorf(exit.NotFound, otherTab(tabs), "tab %s, which this terminal opened last, is closed; open: %s", last.ID, tabList(tabs))
	}
	return "", exit.Errorf(exit.NotFound, otherTab(tabs), "tab %s, which this terminal opened last, ended with the daemon that had it; open: %s", last.ID, tabList(tabs))
}

// otherTab says how to work on a tab that the terminal did not open last.
func otherTab(tabs []*domtapv1.Tab) string {
	id := tabs[len(tabs)-1].GetId()
	return fmt.Sprintf("name the tab: --tab %s, or DOMTAP_TAB=%s for all commands; or open one of your own: domtap open URL", id, id)
}

// maxListed is how many tabs an error lists.
const maxListed = 10

// tabList names tabs by id and title, the newest ones where there are many.
func tabList(tabs []*domtapv1.Tab) string {
	var words []string
	if more := len(tabs) - maxListed; more > 0 {
		words = append(words, fmt.Sprintf("%d older ones", more))
		tabs = tabs[more:]
	}
	for _, tab := range tabs {
		name := render.Cell(tab.GetUrl(), 60)
		if tab.GetTitle() != "" {
			name = fmt.Sprintf("%q", render.Cell(tab.GetTitle(), 40))
		}
		words = append(words, tab.GetId()+" "+name)
	}
	return strings.Join(words, ", ")
}

// remember makes a new tab the one of this terminal. Where that is not possible, commands ask for the tab.
func (c *client) remember(ctx context.Context, tab *domtapv1.Tab) error {
	if c.memory == nil {
		return nil
	}
	answer, err := c.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		return err
	}
	return c.memory.Opened(answer.GetDaemonId(), terminal.Tab{ID: tab.GetId(), Restored: tab.GetRestore()})
}
