package daemoncmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// UI returns the command ui.
func UI(a *cli.App) *cobra.Command {
	var open, off bool
	request := new(domtapv1.StartLivePageRequest)
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Turn on the live page, which shows what agents do, and print its address",
		Long: `Turn on the daemon's live page and print its address. For each tab, the page shows what clients do and the
results, and the picture, the text and the changes of the tab as they happen. A running daemon needs no
restart. If no daemon runs, the command starts one. The page is served until the daemon stops or you run
domtap ui --off.

The page is on loopback. Its address ends in the token, after a #. Browsers do not send that part, and the
page removes it from the address bar. Anyone with the token controls the browser. Keep the address out of
logs and chats.`,
		Example: `  domtap ui --open
  xdg-open "$(domtap ui)"
  domtap ui --off`,
		Args: cli.Args(),
	}
	cmd.Flags().BoolVar(&open, "open", false, "open the page in this desktop's browser instead of printing the address")
	cmd.Flags().BoolVar(&off, "off", false, "turn the page off")
	cmd.Flags().StringVar(&request.Address, "web", "", "serve the page on this loopback address, HOST:PORT (default: "+listen.DefaultWebAddress+", or any free port)")
	cli.BindEnv(cmd.Flags(), "web")
	cmd.MarkFlagsMutuallyExclusive("open", "off")
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error {
		ctx, cancel := cli.WithTimeout(ctx, a.Flags.Timeout)
		defer cancel()
		if to.Socket == "" {
			return exit.Errorf(exit.Usage, "run domtap ui on the machine where the daemon runs", "only a daemon on a unix socket switches its page on: %s is not a unix socket", to)
		}
		if off {
			return switchOff(ctx, a, to)
		}
		at, err := a.Places()
		if err != nil {
			return err
		}
		page, err := livePage(ctx, a, to, at, request)
		if err != nil {
			return err
		}
		if open {
			return cli.OpenPage(ctx, filepath.Join(at.State, "ui.html"), page)
		}
		return a.Printer().ShowValue(page, page+"\n")
	})
	return cmd
}

// livePage switches the page on and returns its URL with the token.
func livePage(ctx context.Context, a *cli.App, to endpoint.Target, at endpoint.Places, request *domtapv1.StartLivePageRequest) (string, error) {
	if err := a.EnsureDaemon(ctx, to); err != nil {
		return "", err
	}
	client, err := a.Dial(to)
	if err != nil {
		return "", err
	}
	answer, err := domtapv1.NewDaemonServiceClient(client.Conn).StartLivePage(ctx, request)
	if err = errors.Join(explainOldDaemon(err), client.Conn.Close()); err != nil {
		return "", err
	}
	token, err := listen.ReadToken(at.Token)
	if err != nil {
		return "", exit.Errorf(exit.Denied, "", "%w", err)
	}
	return cli.PageURL(answer.GetUrl(), token), nil
}

// switchOff switches the page off, if a daemon runs.
func switchOff(ctx context.Context, a *cli.App, to endpoint.Target) error {
	if !to.Answers(ctx) {
		return a.Printer().ShowValue(false, "no daemon is running\n")
	}
	client, err := a.Dial(to)
	if err != nil {
		return err
	}
	answer, err := domtapv1.NewDaemonServiceClient(client.Conn).StopLivePage(ctx, new(domtapv1.StopLivePageRequest))
	if err = errors.Join(explainOldDaemon(err), client.Conn.Close()); err != nil {
		return err
	}
	text := "the live page is off\n"
	if !answer.GetStopped() {
		text = "the live page was not on\n"
	}
	return a.Printer().Show(answer, func() string { return text })
}

// explainOldDaemon explains an error that only older daemons return.
func explainOldDaemon(err error) error {
	if status.Code(err) == codes.Unimplemented {
		return exit.Errorf(exit.Failure, "run domtap stop, then domtap ui; domtap serve --ui serves the page, too", "the running daemon is older than this command, and cannot switch its page on: %w", err)
	}
	return err
}
