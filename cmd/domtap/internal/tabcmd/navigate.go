package tabcmd

import (
	"context"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// waitUntil maps the values of --wait.
var waitUntil = map[string]domtapv1.WaitUntil{
	"load":               domtapv1.WaitUntil_WAIT_UNTIL_LOAD,
	"commit":             domtapv1.WaitUntil_WAIT_UNTIL_COMMIT,
	"dom_content_loaded": domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED,
	"network_idle":       domtapv1.WaitUntil_WAIT_UNTIL_NETWORK_IDLE,
}

func waitFlag(cmd *cobra.Command, c *cli.Choice) {
	cli.ChoiceFlag(cmd, c, "wait", "w", "when to consider the page loaded", "load", "commit", "dom_content_loaded", "network_idle")
}

// openFlags holds the flags of the command open.
type openFlags struct {
	wait              cli.Choice
	viewport, session string
	quiet, restore    bool
}

const openHelp = `Open a tab, load URL in it, wait until the page is loaded, and print the tab.

Later commands in this terminal use the tab, unless --tab or DOMTAP_TAB names another tab. Tabs opened by other
terminals and programs do not change that.

If the page cannot be loaded, the tab is closed. A URL without a scheme gets https://, or http:// if it is on
this machine.

With --restore, the tab is opened again after its renderer or browser crashed, or after the daemon was killed
and restarted. It keeps its ID, its URL and its scroll position. Typed text is lost, and refs are new.
Later, change the setting with domtap restore --on or --off.`

// Open returns the command open.
func Open(a *cli.App) *cobra.Command {
	var flags openFlags
	cmd := &cobra.Command{
		Use:   "open URL",
		Short: "Open a tab and load a URL in it",
		Long:  openHelp,
		Example: `  domtap open https://example.com
  domtap open localhost:8080 --wait network_idle
  domtap open https://example.com --session work
  domtap open https://example.com --restore
  tab=$(domtap open -q https://example.com); domtap compact --tab "$tab"`,
		Args: cli.Args("URL"),
	}
	a.Flags.Register(cmd)
	flags.register(a, cmd)
	cmd.RunE = a.WithNavigation(func(ctx context.Context, c *cli.Client, args []string) error {
		size, err := sessionflags.ParseViewport(flags.viewport)
		if err != nil {
			return exit.Errorf(exit.Usage, "", "%w", err)
		}
		url := cli.CompleteURL(args[0])
		done := a.Waiting("loading " + url)
		answer, err := c.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{
			Url: url, SessionId: flags.session, Viewport: size,
			WaitUntil: waitUntil[flags.wait.Value], Timeout: a.Flags.NavigationTimeout(), Restore: flags.restore,
		})
		done()
		if err != nil {
			return err
		}
		if err := c.Remember(ctx, answer.GetTab()); err != nil {
			a.Warn(err)
		}
		if flags.quiet || a.Followed && arrived(answer.GetTab()) {
			return a.Printer().Text(answer.GetTab().GetId() + "\n")
		}
		return printTabs(a, answer.GetTab())
	})
	return cmd
}

func (o *openFlags) register(a *cli.App, cmd *cobra.Command) {
	waitFlag(cmd, &o.wait)
	f := cmd.Flags()
	f.StringVar(&o.viewport, "viewport", "", "the size of the page in CSS pixels, WIDTHxHEIGHT (default: 1280x800)")
	a.SessionFlag(cmd, &o.session, "the session of the new tab (default: the default session)")
	f.BoolVar(&o.restore, "restore", false, "restore the tab after a crash of its renderer, its browser or the daemon")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the ID of the tab")
}

// navigation is a call that navigates a tab to another document.
type navigation func(ctx context.Context, c *cli.Client, id string, wait domtapv1.WaitUntil, args []string) (navigated, error)

// navigated is the common interface of the answers to navigations.
type navigated interface {
	GetTab() *domtapv1.Tab
	GetOutcome() []*domtapv1.Outcome
}

// navigationCommand completes a command that navigates and prints the tab.
func navigationCommand(a *cli.App, cmd *cobra.Command, call navigation) *cobra.Command {
	var wait cli.Choice
	a.TabCommand(cmd)
	waitFlag(cmd, &wait)
	cmd.RunE = a.WithNavigation(func(ctx context.Context, c *cli.Client, args []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		what := "the page"
		if len(args) > 0 {
			what = cli.CompleteURL(args[0])
		}
		done := a.Waiting("loading " + what)
		answer, err := call(ctx, c, id, waitUntil[wait.Value], args)
		done()
		if err != nil {
			return err
		}
		tab := answer.GetTab()
		if a.Followed && arrived(tab) && !a.Printer().JSON {
			return a.Printer().Text(render.Effects(urgent(answer.GetOutcome()), tab))
		}
		return cli.ShowEach(a.Printer(), []*domtapv1.Tab{tab}, func(tabs []*domtapv1.Tab) string {
			return render.Effects(answer.GetOutcome(), tab) + render.Tabs(tabs)
		})
	})
	return cmd
}

// arrived reports whether the server sent the requested page instead of an error page.
func arrived(tab *domtapv1.Tab) bool { return tab.GetHttpStatus() < http.StatusBadRequest }

// urgent returns the outcomes that a later read of the page does not show: all except headings and texts.
func urgent(all []*domtapv1.Outcome) []*domtapv1.Outcome {
	return slices.DeleteFunc(slices.Clone(all), func(o *domtapv1.Outcome) bool {
		return o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_HEADING || o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_TEXT
	})
}

// Goto returns the command goto.
func Goto(a *cli.App) *cobra.Command {
	return navigationCommand(a, &cobra.Command{
		Use:     "goto URL",
		Short:   "Load a URL in a tab",
		Long:    "Load URL in a tab, wait until the page is loaded, and print its alerts, its headings and the tab. Refs of the previous page\nare no longer valid.",
		Example: "  domtap goto https://example.com",
		Args:    cli.Args("URL"),
	}, func(ctx context.Context, c *cli.Client, id string, wait domtapv1.WaitUntil, args []string) (navigated, error) {
		return c.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{
			TabId: id, Url: cli.CompleteURL(args[0]), WaitUntil: wait, Timeout: a.Flags.NavigationTimeout(),
		})
	})
}

// historyCommand returns a command that moves a tab in its history.
func historyCommand(a *cli.App, name, short string, call navigation) *cobra.Command {
	return navigationCommand(a, &cobra.Command{
		Use:   name,
		Short: short,
		Long:  short + ", wait until the page is loaded, and print the tab.",
		Args:  cli.Args(),
	}, call)
}

// Back returns the command back.
func Back(a *cli.App) *cobra.Command {
	return historyCommand(a, "back", "Go back one page",
		func(ctx context.Context, c *cli.Client, id string, wait domtapv1.WaitUntil, _ []string) (navigated, error) {
			return c.Tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: id, WaitUntil: wait, Timeout: a.Flags.NavigationTimeout()})
		})
}

// Forward returns the command forward.
func Forward(a *cli.App) *cobra.Command {
	return historyCommand(a, "forward", "Go forward one page",
		func(ctx context.Context, c *cli.Client, id string, wait domtapv1.WaitUntil, _ []string) (navigated, error) {
			return c.Tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: id, WaitUntil: wait, Timeout: a.Flags.NavigationTimeout()})
		})
}

// Reload returns the command reload.
func Reload(a *cli.App) *cobra.Command {
	return historyCommand(a, "reload", "Reload the page",
		func(ctx context.Context, c *cli.Client, id string, wait domtapv1.WaitUntil, _ []string) (navigated, error) {
			return c.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: id, WaitUntil: wait, Timeout: a.Flags.NavigationTimeout()})
		})
}
