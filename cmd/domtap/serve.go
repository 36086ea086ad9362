package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/rpc/listen"
)

// serveFlags are the settings of the daemon.
type serveFlags struct {
	daemon.Config
	config    string
	logFormat choice
	logLevel  choice
	dialogs   choice
	urlPolicy string
	masks     []string
	restore   choice
}

func serveCommand(a *app) *cobra.Command {
	var s serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon: start Chromium, own its tabs, and serve the gRPC API until SIGTERM or
Ctrl-C. A second signal ends it at once.

It listens on a unix socket that only this user can open, without a token, and on a loopback
TCP address, with a bearer token. Any other address needs --tls-cert and --tls-key.
With --web it serves the same calls as JSON over HTTP, for curl and browsers, with the token; with --ui
also a live page of its tabs, which domtap ui opens.
With --metrics it counts what it does, for Prometheus, on an address of its own, without a token:
the figures tell nothing of pages. It is loopback unless you name another.
Every flag can be set by the environment variable in brackets too, and by a line of a configuration file:
domtap config shows what is in force, and from where.`,
		Example: `  domtap serve
  domtap serve --listen "" --headless=false
  domtap serve --ui
  domtap serve --metrics :9464
  domtap serve --remote http://127.0.0.1:9222`,
		Args: cobra.NoArgs,
	}
	s.register(cmd)
	cmd.RunE = doing(func(cmd *cobra.Command, _ []string) error {
		if _, err := s.load(cmd, a.env); err != nil {
			return err
		}
		if err := s.complete(cmd, a.env); err != nil {
			return err
		}
		s.Version, s.Logger = programVersion(), s.logger(a)
		s.Browser.Logger = s.Logger
		return daemon.Run(cmd.Context(), s.Config)
	})
	return cmd
}

func (s *serveFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Socket, "socket", "", "the unix socket; empty: none (default: domtap/domtap.sock in $XDG_RUNTIME_DIR)")
	f.StringVar(&s.Listen, "listen", listen.DefaultAddress, "the TCP address; empty: none")
	f.StringVar(&s.Web.Address, "web", "", "serve the calls as JSON over HTTP (Connect, gRPC-Web) on this TCP address, such as "+listen.DefaultWebAddress+"; empty: not")
	f.BoolVar(&s.Web.UI, "ui", false, "serve a live page of the tabs there, too (without --web: on "+listen.DefaultWebAddress+")")
	f.StringArrayVar(&s.Web.Hosts, "web-host", nil, "one more host name that --web is called by; may be repeated")
	f.StringArrayVar(&s.Web.Origins, "web-origin", nil, "an origin whose pages may call --web too, such as http://localhost:5173; may be repeated")
	f.StringVar(&s.TLS.CertFile, "tls-cert", "", "a PEM file with the certificate for the TCP addresses")
	f.StringVar(&s.TLS.KeyFile, "tls-key", "", "a PEM file with the certificate's key")
	f.StringVar(&s.TokenFile, "token-file", "", "the file with the bearer token, made when it is missing (default: domtap/token in the configuration directory)")
	f.StringVar(&s.Browser.ChromePath, "chrome", "", "the browser to start (default: the first Chromium or Chrome found)")
	f.StringArrayVar(&s.Browser.Flags, "chrome-flag", nil, "one more flag for the browser, such as proxy-server=HOST:PORT; may be repeated")
	f.BoolVar(&s.Browser.Headless, "headless", true, "run the browser without a window")
	s.registerBrowsers(f)
	f.StringVar(&s.Browser.UserDataDir, "profile", "", "keep the default session in this directory from one start to the next (default: nothing is kept)")
	f.StringVar(&s.Browser.UserDataDir, "user-data-dir", "", "another name for --profile")
	_ = f.MarkHidden("user-data-dir") // the only error is a flag that does not exist
	f.StringVar(&s.Browser.DownloadDir, "downloads-dir", "", "where files that pages download are kept, in a folder for each session (default: one that is removed at the end)")
	f.Int64Var(&s.Browser.MaxDownloadBytes, "max-downloads-bytes", 2<<30, "how many bytes they may have together; what exceeds that is canceled")
	f.StringVar(&s.Metrics, "metrics", "", "serve Prometheus metrics at http://ADDR/metrics, such as 127.0.0.1:9464; without a host: loopback; empty: measure nothing")
	f.StringArrayVar(&s.UploadDirs, "upload-dir", nil, "a folder whose files pages may be given; may be repeated (default: none)")
	f.IntVar(&s.MaxTabs, "max-tabs", 100, "how many tabs may be open")
	f.BoolVar(&s.AllowEval, "allow-eval", false, "let clients run scripts in pages (Evaluate, domtap eval); each is logged, without its text")
	f.IntVar(&s.MaxSessions, "max-sessions", 50, "how many sessions there may be, the default one included")
	f.IntVar(&s.WarmSessions, "warm-sessions", 1, "how many sessions are kept ready once the first was created, at about 30 MB each; 0: none")
	choiceFlag(cmd, &s.logFormat, "log-format", "", "the form of the log on standard error", "text", "json")
	choiceFlag(cmd, &s.logLevel, "log-level", "", "what to log", "info", "debug", "warn", "error")
	choiceFlag(cmd, &s.dialogs, "dialogs", "", "who answers JavaScript dialogs: report waits for a client, accept and dismiss answer at once", "report", "accept", "dismiss")
	s.registerIdentity(f)
	s.registerPolicy(f)
	s.registerFaults(cmd)
	s.registerConfig(f)
	s.registerLimits(f)
	s.registerMask(f)
	stateDirFlag(f, &s.Browser.StateDir)
	f.BoolVar(&s.OnDemand, "on-demand", false, "started by a client command")
	_ = f.MarkHidden("on-demand") // the only error is a flag that does not exist
	alsoEnv(f, "socket", "listen", "web", "ui", "web-host", "web-origin", "tls-cert", "tls-key", "token-file", "chrome", "chrome-flag", "headless",
		"profile", "user-data-dir", "metrics", "upload-dir", "max-tabs", "max-sessions", "warm-sessions", "allow-eval", "log-format", "log-level", "dialogs",
		"downloads-dir", "max-downloads-bytes")
}

// complete fills in the places that nobody set, and checks the rest.
func (s *serveFlags) complete(cmd *cobra.Command, env endpoint.Lookup) error {
	at, err := endpoint.FindPlaces(env, s.Browser.StateDir)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("socket") {
		s.Socket = at.Socket
	}
	if s.OnDemand && !cmd.Flags().Changed("listen") {
		s.Listen = "" // nobody asked for a port
	}
	s.TokenFile = cmp.Or(s.TokenFile, at.Token)
	s.Browser.StateDir = at.State
	if s.Web.UI && s.Web.Address == "" {
		s.Web.Address = listen.DefaultWebAddress
	}
	s.Dialogs = dialogPolicies[s.dialogs.value]
	s.Restore = restores[s.restore.value]
	switch {
	case s.Socket == "" && s.Listen == "":
		return exit.Errorf(exit.Usage, "leave one of --socket and --listen at its default", "there is nothing to listen on")
	case s.Metrics != "" && daemon.CheckMetrics(s.Metrics) != nil:
		return exit.Errorf(exit.Usage, "for example --metrics 127.0.0.1:9464", "%w", daemon.CheckMetrics(s.Metrics))
	case s.Web.Check() != nil:
		return exit.Errorf(exit.Usage, "for example --web-origin http://localhost:5173", "--web-origin: %w", s.Web.Check())
	case s.Browsers.Check() != nil:
		return exit.Errorf(exit.Usage, "for example --browsers 4", "%w", s.Browsers.Check())
	case s.MaxTabs < 1:
		return exit.Errorf(exit.Usage, "", "--max-tabs %d is less than 1", s.MaxTabs)
	case s.Browser.MaxDownloadBytes < 1:
		return exit.Errorf(exit.Usage, "", "--max-downloads-bytes %d is less than 1", s.Browser.MaxDownloadBytes)
	case s.MaxSessions < 1:
		return exit.Errorf(exit.Usage, "1 allows the default session only", "--max-sessions %d is less than 1", s.MaxSessions)
	case s.WarmSessions < 0 || s.WarmSessions > 10:
		return exit.Errorf(exit.Usage, "0 keeps none ready", "--warm-sessions %d is not 0 to 10", s.WarmSessions)
	}
	if err := s.checkPolicy(); err != nil {
		return err
	}
	if err := s.checkIdentity(); err != nil {
		return err
	}
	if err := s.checkLimits(); err != nil {
		return err
	}
	if err := s.checkMask(); err != nil {
		return err
	}
	for _, path := range []*string{&s.Socket, &s.Browser.StateDir, &s.Browser.UserDataDir, &s.Browser.DownloadDir} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("find the working directory: %w", err)
		}
	}
	return nil
}

// dialogPolicies are the words of --dialogs.
var dialogPolicies = map[string]actor.DialogPolicy{
	"report": actor.ReportDialogs, "accept": actor.AcceptDialogs, "dismiss": actor.DismissDialogs,
}

func (s *serveFlags) logger(a *app) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.logLevel.value)) // the flag takes only words that it knows
	options := &slog.HandlerOptions{Level: level}
	if s.logFormat.value == "json" {
		return slog.New(slog.NewJSONHandler(a.complaints, options))
	}
	return slog.New(slog.NewTextHandler(a.complaints, options))
}
