// Package servecmd provides the commands serve and config, and the daemon's settings.
//
// Every setting is a flag. An environment variable or a line of the configuration file can also set it. The command line takes precedence
// over the environment, and the environment over the file.
package servecmd

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/internal/endpoint"
)

// Serve returns the command serve.
func Serve(a *cli.App) *cobra.Command {
	var s Flags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon, which starts Chromium, owns its tabs, and serves the gRPC API until SIGTERM or Ctrl-C. A second
signal ends it immediately.

The daemon listens on a unix socket that only this user can open, without a token, and on a loopback TCP address,
which requires a bearer token. Any other address needs --tls-cert and --tls-key. With --web, the daemon serves the
same calls as JSON over HTTP, for curl and browsers, with the token. With --ui, it also serves a live page of its
tabs, which domtap ui opens. With --metrics, it serves Prometheus metrics on a separate address, without a token.
Metrics contain nothing from pages. That address is on loopback unless you name another host.

You can also set each flag with its environment variable (in brackets) or in a configuration file. domtap config
prints the settings in force and their origins.`,
		Example: `  domtap serve
  domtap serve --listen "" --headless=false
  domtap serve --ui
  domtap serve --metrics :9464
  domtap serve --remote http://127.0.0.1:9222`,
		Args: cli.Args(),
	}
	s.Register(cmd)
	cmd.RunE = cli.Work(func(cmd *cobra.Command, _ []string) error {
		if _, err := s.load(cmd, a.Lookup); err != nil {
			return err
		}
		if err := s.complete(cmd, a.Lookup); err != nil {
			return err
		}
		for _, secret := range []string{daemon.SearchKeyVariable, daemon.RemoteHeadersVariable, endpoint.PassphraseVariable} {
			_ = os.Unsetenv(secret) // browsers must not inherit the secret
		}
		s.Version, s.Logger = a.Version, s.logger(a)
		s.Browser.Logger = s.Logger
		return daemon.Run(cmd.Context(), s.Config)
	})
	return cmd
}

func (s *Flags) logger(a *cli.App) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.logLevel.Value)) // the flag allows only valid levels
	options := &slog.HandlerOptions{Level: level}
	if s.logFormat.Value == "json" {
		return slog.New(slog.NewJSONHandler(a.Err, options))
	}
	return slog.New(slog.NewTextHandler(a.Err, options))
}
