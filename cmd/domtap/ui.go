package main

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

	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/rpc/listen"
)

// showPage has the daemon that this command may have to start serve its live page.
const showPage = "--ui"

func uiCommand(a *app) *cobra.Command {
	var open bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Print the address of the live page, on which a person sees what agents see",
		Long: `Print the address of the daemon's live page: its tabs, what they look like, their lines and what
changes in them, as it changes. The page only shows; it cannot act.

The daemon is started, with its page, when it does not run. The address ends in the token, behind a #:
browsers do not send that part, and the page takes it out of the address bar. Whoever has it controls
the browser: keep it out of logs and chats.`,
		Example: `  domtap ui --open
  xdg-open "$(domtap ui)"`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&open, "open", false, "open it in this desktop's browser instead")
	a.common.register(cmd)
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, _ []string) error {
		ctx, cancel := withTimeout(ctx, a.common.timeout)
		defer cancel()
		at, err := a.places()
		if err != nil {
			return err
		}
		page, err := a.livePage(ctx, to, at)
		if err != nil {
			return err
		}
		if open {
			return openPage(ctx, at, page)
		}
		p := a.printer()
		if p.json {
			return p.value(page)
		}
		return p.text(page + "\n")
	})
	return cmd
}

// livePage is the URL of the daemon's page, with the token.
func (a *app) livePage(ctx context.Context, to endpoint.Target, at endpoint.Places) (string, error) {
	if to.Socket == "" {
		return "", exit.Errorf(exit.Usage, "run domtap ui where the daemon runs", "only a daemon on a unix socket says where its page is; %s is none", to)
	}
	a.daemonFlags = append(a.daemonFlags, showPage)
	if err := a.ensureDaemon(ctx, to); err != nil {
		return "", err
	}
	page, err := daemon.PageURL(ctx, to.Socket)
	if errors.Is(err, daemon.ErrNoPage) {
		return "", exit.Errorf(exit.Failure, "start it with domtap serve --ui, or with DOMTAP_UI=true; or run domtap stop, then domtap ui again", "%w", err)
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

// openPage opens a page in the browser of this desktop. Its URL does not go into a command line, which other users
// can see: the browser is given a file of ours that leads there.
func openPage(ctx context.Context, at endpoint.Places, page string) error {
	file := filepath.Join(at.State, "ui.html")
	lead := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>domtap</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(page) + `">`
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(lead), 0o600); err != nil {
		return fmt.Errorf("make the file that leads to the page: %w", err)
	}
	if text, err := exec.CommandContext(ctx, opener(), file).CombinedOutput(); err != nil {
		return exit.Errorf(exit.Failure, "open the address that domtap ui prints", "%s could not open a browser: %w: %s", opener(), err, text)
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
