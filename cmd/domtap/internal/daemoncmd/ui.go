package daemoncmd

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/server/listen"
)

// serveUI lets a daemon that the command starts serve its live page.
const serveUI = "--ui"

// UI makes the command ui.
func UI(a *cli.App) *cobra.Command {
	var open bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Print the address of the live page, which shows what agents see",
		Long: `Print the address of the daemon's live page: the tabs, their screenshots, their elements and the
changes, live. The page is read-only.

The command starts the daemon, with the page, if none runs. The address ends in the token, after a #:
browsers do not send that part, and the page removes it from the address bar. Whoever has the token
controls the browser: keep the address out of logs and chats.`,
		Example: `  domtap ui --open
  xdg-open "$(domtap ui)"`,
		Args: cli.Args(),
	}
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser of this desktop instead")
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error {
		ctx, cancel := cli.WithTimeout(ctx, a.Flags.Timeout)
		defer cancel()
		at, err := a.Places()
		if err != nil {
			return err
		}
		page, err := livePage(ctx, a, to, at)
		if err != nil {
			return err
		}
		if open {
			return openPage(ctx, at, page)
		}
		return a.Printer().ShowValue(page, page+"\n")
	})
	return cmd
}

// livePage is the URL of the daemon's page, with the token.
func livePage(ctx context.Context, a *cli.App, to endpoint.Target, at endpoint.Places) (string, error) {
	if to.Socket == "" {
		return "", exit.Errorf(exit.Usage, "run domtap ui on the machine where the daemon runs", "only a daemon on a unix socket reports its page: %s is not a unix socket", to)
	}
	if err := a.EnsureDaemon(ctx, to, serveUI); err != nil {
		return "", err
	}
	page, err := daemon.PageURL(ctx, to.Socket)
	if errors.Is(err, daemon.ErrNoPage) {
		return "", exit.Errorf(exit.Failure, "start the daemon with domtap serve --ui, or with DOMTAP_UI=true; or run domtap stop, then domtap ui", "%w", err)
	}
	if err != nil {
		return "", err
	}
	token, err := listen.ReadToken(at.Token)
	if err != nil {
		return "", exit.Errorf(exit.Denied, "", "%w", err)
	}
	return page + "#token=" + url.QueryEscape(token), nil
}

// openPage opens a page in the browser of this desktop. Other users can see command lines, so the URL
// goes into a private file that redirects to the page.
func openPage(ctx context.Context, at endpoint.Places, page string) error {
	file := filepath.Join(at.State, "ui.html")
	redirect := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>domtap</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(page) + `">`
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(redirect), 0o600); err != nil {
		return fmt.Errorf("write the file that redirects to the page: %w", err)
	}
	if text, err := exec.CommandContext(ctx, opener(), file).CombinedOutput(); err != nil {
		return exit.Errorf(exit.Failure, "open the address that domtap ui prints", "%s failed to open a browser: %w: %s", opener(), err, text)
	}
	return nil
}

// opener is the command that opens a file as a double click does.
func opener() string {
	if runtime.GOOS == "darwin" {
		return "open"
	}
	return "xdg-open"
}
