package tabcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
)

// attachFlags holds the flags of the command attach.
type attachFlags struct {
	browser string
	all     bool
}

const attachHelp = `Attach the daemon to the Chrome that you use, list its tabs, and take over those that TAB names or all of them.

The browser must allow debugging; if none does, the command says how. If several do, it asks which one, or needs
--browser: a name such as chrome or edge, a profile folder, or http://HOST:PORT. TAB is the start of an ID in the list.

A tab that is taken over keeps its page and its size. The daemon never closes it: domtap close and domtap stop hand it
back. The popups of such a tab belong to you, too. Other tabs are not touched.`

// Attach returns the command attach.
func Attach(a *cli.App) *cobra.Command {
	var flags attachFlags
	cmd := &cobra.Command{
		Use:     "attach [TAB…]",
		Short:   "Attach to your own running Chrome, and take over tabs",
		Long:    attachHelp,
		Example: "  domtap attach\n  domtap attach 3F2A --browser chrome\n  domtap attach --all",
	}
	a.Flags.Register(cmd)
	cmd.Flags().StringVar(&flags.browser, "browser", "", "the browser to attach to, if several allow debugging")
	cmd.Flags().BoolVar(&flags.all, "all", false, "take over all tabs")
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, args []string) error {
		if err := flags.ensure(ctx, a, to); err != nil {
			return err
		}
		c, err := a.Dial(to)
		if err != nil {
			return err
		}
		ctx, cancel := cli.WithTimeout(ctx, a.Flags.Timeout)
		defer cancel()
		return errors.Join(flags.attach(ctx, a, c, args), c.Close())
	})
	return cmd
}

// ensure starts a daemon that is attached to the chosen browser, if no daemon runs.
func (f *attachFlags) ensure(ctx context.Context, a *cli.App, to endpoint.Target) error {
	if a.Flags.Addr != "" || to.Answers(ctx) {
		if f.browser != "" {
			return exit.Errorf(exit.Usage, "run domtap stop first, or omit --browser", "a daemon runs already, and stays with its browser")
		}
		return a.EnsureDaemon(ctx, to)
	}
	b, err := f.choose(ctx, a)
	if err != nil {
		return err
	}
	a.Note("attaching to %s", render.Line(b.String()))
	if b.Asks {
		a.Note("choose Allow in the window of the browser within %s", endpoint.StartLimit)
	}
	remote := "auto:" + b.Choice()
	if b.Folder.Path == "" {
		remote = b.Choice()
	}
	return a.EnsureDaemon(ctx, to, "--remote="+remote)
}

// choose finds the browser to attach to. If there are several, it asks at a terminal.
func (f *attachFlags) choose(ctx context.Context, a *cli.App) (discovery.Browser, error) {
	b, err := a.Running.Choose(ctx, f.browser)
	e, ok := errors.AsType[*discovery.Error](err)
	if !ok {
		return b, err
	}
	if f.browser != "" || len(e.Choices) < 2 || a.Columns == nil || a.Columns() == 0 {
		return b, exit.Errorf(exit.Precondition, e.Remedy, "%s", e.Reason)
	}
	for i, one := range e.Choices {
		a.Note("%d  %s", i+1, render.Line(one.String()))
	}
	a.Note("attach to which browser? 1 to %d:", len(e.Choices))
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if n, bad := strconv.Atoi(strings.TrimSpace(line)); bad == nil && n >= 1 && n <= len(e.Choices) {
		return e.Choices[n-1], nil
	}
	return b, exit.Errorf(exit.Usage, "name one with --browser", "no browser was chosen: %w", errors.Join(err, fmt.Errorf("%q is not a number of the list", strings.TrimSpace(line))))
}

// attach lists the other tabs of the browser, or takes over those that args name.
func (f *attachFlags) attach(ctx context.Context, a *cli.App, c *cli.Client, args []string) error {
	list, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{Others: true})
	if err != nil {
		return err
	}
	others := list.GetOthers()
	if len(args) == 0 && !f.all {
		return cli.ShowEach(a.Printer(), others, func(others []*domtapv1.OtherTab) string {
			if len(others) == 0 {
				return "the browser has no other tab; open one with domtap open URL\n"
			}
			return render.OtherTabs(others)
		})
	}
	if !f.all {
		if others, err = selected(others, args); err != nil {
			return err
		}
	}
	var taken []*domtapv1.Tab
	for _, o := range others {
		answer, failed := c.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{TakeOver: o.GetId()})
		if failed != nil {
			if !f.all {
				return failed
			}
			a.Warn(fmt.Errorf("%s is not taken over: %w", o.GetUrl(), failed))
			continue
		}
		taken = append(taken, answer.GetTab())
		if err := c.Remember(ctx, answer.GetTab()); err != nil {
			a.Warn(err)
		}
	}
	return printTabs(a, taken...)
}

// selected returns the tabs whose IDs begin with the given words, one for each.
func selected(others []*domtapv1.OtherTab, words []string) (all []*domtapv1.OtherTab, err error) {
	for _, word := range words {
		var fits []*domtapv1.OtherTab
		for _, o := range others {
			if strings.HasPrefix(o.GetId(), strings.ToUpper(word)) {
				fits = append(fits, o)
			}
		}
		if len(fits) != 1 {
			return nil, exit.Errorf(exit.Usage, "run domtap attach to list the tabs", "%d tabs of the browser have an ID that begins with %q", len(fits), word)
		}
		all = append(all, fits[0])
	}
	return all, nil
}
