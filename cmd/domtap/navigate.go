package main

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func openCommand(a *app) *cobra.Command {
	var wait choice
	var viewport, session string
	var quiet, restore bool
	cmd := &cobra.Command{
		Use:   "open URL",
		Short: "Open a tab and load URL in it",
		Long: `Open a tab, load URL in it, wait until it is loaded, and print the tab.

Commands of this terminal work on the tab from then on, unless --tab or DOMTAP_TAB names another. Tabs that
other terminals and programs open do not change that.

When the page cannot be loaded, no tab is left behind. A URL without a scheme gets
https://, or http:// on this machine.

With --restore the tab comes back when its renderer or its browser dies, or the daemon is killed and
started again: under the same id, at its URL, scrolled to where it was. What was typed is lost, and
refs are new ones. domtap restore --on and --off switch it later.`,
		Example: `  domtap open https://example.com
  domtap open localhost:8080 --wait network_idle
  domtap open https://example.com --session work
  domtap open https://example.com --restore
  tab=$(domtap open -q https://example.com); domtap compact --tab "$tab"`,
		Args: exactly("a URL"),
	}
	a.common.register(cmd)
	waitFlag(cmd, &wait)
	cmd.Flags().StringVar(&viewport, "viewport", "", "size of the page in CSS pixels, WIDTHxHEIGHT (default: 1280x800)")
	a.sessionFlag(cmd, &session, "the session to open it in (default: the one named default)")
	cmd.Flags().BoolVar(&restore, "restore", false, "bring the tab back when its renderer, its browser or the daemon dies")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the id of the tab")
	cmd.RunE = a.navigating(func(ctx context.Context, c *client, args []string) error {
		size, err := parseViewport(viewport)
		if err != nil {
			return err
		}
		answer, err := c.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{
			Url: completeURL(args[0]), SessionId: session, Viewport: size, WaitUntil: waits[wait.value], Timeout: a.navigationTimeout(),
			Restore: restore,
		})
		if err != nil {
			return err
		}
		if err := c.remember(ctx, answer.GetTab()); err != nil {
			a.warn(err)
		}
		if quiet {
			return a.printer().text(answer.GetTab().GetId() + "\n")
		}
		return a.printer().tabs([]*domtapv1.Tab{answer.GetTab()})
	})
	return cmd
}

func gotoCommand(a *app) *cobra.Command {
	var wait choice
	cmd := a.tabCommand(&cobra.Command{
		Use:     "goto URL",
		Short:   "Load URL in a tab",
		Long:    "Load URL in a tab, wait until it is loaded, and print the tab. Refs of the page before are gone.",
		Example: "  domtap goto https://example.com",
		Args:    exactly("a URL"),
	})
	waitFlag(cmd, &wait)
	cmd.RunE = a.moving(func(ctx context.Context, c *client, id string, args []string) (*domtapv1.Tab, error) {
		answer, err := c.tabs.Navigate(ctx, &domtapv1.NavigateRequest{
			TabId: id, Url: completeURL(args[0]), WaitUntil: waits[wait.value], Timeout: a.navigationTimeout(),
		})
		return answer.GetTab(), err
	})
	return cmd
}

func backCommand(a *app) *cobra.Command {
	return a.stepCommand("back", "Go one page back", func(ctx context.Context, c *client, id string, wait domtapv1.WaitUntil) (*domtapv1.Tab, error) {
		answer, err := c.tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: id, WaitUntil: wait, Timeout: a.navigationTimeout()})
		return answer.GetTab(), err
	})
}

func forwardCommand(a *app) *cobra.Command {
	return a.stepCommand("forward", "Go one page forward", func(ctx context.Context, c *client, id string, wait domtapv1.WaitUntil) (*domtapv1.Tab, error) {
		answer, err := c.tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: id, WaitUntil: wait, Timeout: a.navigationTimeout()})
		return answer.GetTab(), err
	})
}

func reloadCommand(a *app) *cobra.Command {
	return a.stepCommand("reload", "Load the page again", func(ctx context.Context, c *client, id string, wait domtapv1.WaitUntil) (*domtapv1.Tab, error) {
		answer, err := c.tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: id, WaitUntil: wait, Timeout: a.navigationTimeout()})
		return answer.GetTab(), err
	})
}

// step is a call that moves a tab in its history.
type step func(ctx context.Context, c *client, id string, wait domtapv1.WaitUntil) (*domtapv1.Tab, error)

func (a *app) stepCommand(name, short string, call step) *cobra.Command {
	var wait choice
	cmd := a.tabCommand(&cobra.Command{
		Use:   name,
		Short: short,
		Long:  short + ", wait until it is loaded, and print the tab.",
		Args:  cobra.NoArgs,
	})
	waitFlag(cmd, &wait)
	cmd.RunE = a.moving(func(ctx context.Context, c *client, id string, _ []string) (*domtapv1.Tab, error) {
		return call(ctx, c, id, waits[wait.value])
	})
	return cmd
}

// move is a call that takes a tab to another document.
type move func(ctx context.Context, c *client, id string, args []string) (*domtapv1.Tab, error)

// moving wraps a move: it finds the tab before and prints it after.
func (a *app) moving(call move) func(*cobra.Command, []string) error {
	return a.navigating(func(ctx context.Context, c *client, args []string) error {
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		tab, err := call(ctx, c, id, args)
		if err != nil {
			return err
		}
		return a.printer().tabs([]*domtapv1.Tab{tab})
	})
}

var (
	hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(?:[^0-9]|$)`)
	isLocal   = regexp.MustCompile(`^(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/]|$)`)
)

// completeURL gives a URL that was typed without a scheme the likely one.
func completeURL(typed string) string {
	switch {
	case typed == "", hasScheme.MatchString(typed):
		return typed
	case isLocal.MatchString(typed):
		return "http://" + typed
	}
	return "https://" + typed
}

// parseViewport reads 1280x800. The daemon checks the range.
func parseViewport(text string) (*domtapv1.Viewport, error) {
	if text == "" {
		return nil, nil
	}
	width, height, found := strings.Cut(strings.ToLower(text), "x")
	w, errW := strconv.ParseInt(width, 10, 32)
	h, errH := strconv.ParseInt(height, 10, 32)
	if !found || errW != nil || errH != nil {
		return nil, exit.Errorf(exit.Usage, "for example --viewport 1280x800", "--viewport %q is no size", text)
	}
	return &domtapv1.Viewport{Width: int32(w), Height: int32(h)}, nil
}
