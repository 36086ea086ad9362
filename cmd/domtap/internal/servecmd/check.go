package servecmd

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/folders"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/telemetry/tracing"
)

// dialogPolicies maps the values of --dialogs to policies.
var dialogPolicies = map[string]driver.DialogPolicy{
	"report": driver.ReportDialogs, "accept": driver.AcceptDialogs, "dismiss": driver.DismissDialogs,
}

// restorePolicies maps the values of --restore-tabs to policies.
var restorePolicies = map[string]daemon.Restore{"killed": daemon.RestoreKilled, "always": daemon.RestoreAlways, "never": daemon.RestoreNever}

// complete fills in missing settings and checks all settings.
func (s *Flags) complete(cmd *cobra.Command, env endpoint.Lookup) error {
	at, err := endpoint.FindPlaces(env, s.Browser.StateDir)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("socket") {
		s.Socket = at.Socket
	}
	if s.OnDemand && !cmd.Flags().Changed("listen") {
		s.Listen = "" // an on-demand daemon opens a port only on request
	}
	s.TokenFile = cmp.Or(s.TokenFile, at.Token)
	s.Browser.StateDir = at.State
	if s.Web.UI && s.Web.Address == "" {
		s.Web.Address = listen.DefaultWebAddress
	}
	s.Dialogs = dialogPolicies[s.dialogs.Value]
	s.Browser.NoWebMCP = !s.webMCP
	s.Restore = restorePolicies[s.restore.Value]
	s.readSecrets(env)
	for _, check := range []func() error{s.checkListen, s.checkCounts, s.checkRemote, s.checkPolicy, s.checkAccess, s.checkLimits, s.checkPages, s.checkSearch, s.checkCluster} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, path := range append(s.Cluster.Paths(), &s.Socket, &s.Browser.StateDir, &s.Browser.UserDataDir, &s.Browser.DownloadDir, &s.Access.ClientsFile, &s.Recording.Dir) {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("find the working directory: %w", err)
		}
	}
	return nil
}

func (s *Flags) checkListen() error {
	switch {
	case s.Socket == "" && s.Listen == "":
		return exit.Errorf(exit.Usage, "omit --socket or --listen", "there is nothing to listen on")
	case s.Metrics != "" && daemon.CheckMetrics(s.Metrics) != nil:
		return exit.Errorf(exit.Usage, "for example --metrics 127.0.0.1:9464", "%w", daemon.CheckMetrics(s.Metrics))
	case s.Web.Check() != nil:
		return exit.Errorf(exit.Usage, "for example --web-origin http://localhost:5173", "--web-origin: %w", s.Web.Check())
	}
	return nil
}

func (s *Flags) checkCounts() error {
	switch {
	case s.Browsers.Check() != nil:
		return exit.Errorf(exit.Usage, "for example --browsers 4", "%w", s.Browsers.Check())
	case s.Recording.KeepBytes < 0 || s.Recording.KeepAge < 0:
		return exit.Errorf(exit.Usage, "0 means never", "--record-max-bytes and --record-max-age must not be negative")
	case s.Browser.PageNice < 0 || s.Browser.PageNice > 19:
		return exit.Errorf(exit.Usage, "0 runs pages with the daemon's priority", "--page-nice %d is not 0 to 19", s.Browser.PageNice)
	case s.Browser.PageNice > 0 && len(s.Browsers.Remotes) > 0:
		return exit.Errorf(exit.Usage, "omit --page-nice or --remote", "the priority of pages is set where the browser is started")
	case s.MaxTabs < 1:
		return exit.Errorf(exit.Usage, "", "--max-tabs %d is less than 1", s.MaxTabs)
	case s.Browser.MaxDownloadBytes < 1:
		return exit.Errorf(exit.Usage, "", "--max-downloads-bytes %d is less than 1", s.Browser.MaxDownloadBytes)
	case s.MaxSessions < 1:
		return exit.Errorf(exit.Usage, "1 allows only the default session", "--max-sessions %d is less than 1", s.MaxSessions)
	case s.Limits.Idle.Freeze > 0 && !s.Browser.Headless:
		return exit.Errorf(exit.Usage, "omit --freeze-idle or --headless=false", "frozen pages cannot be seen in windows")
	case s.WarmSessions < 0 || s.WarmSessions > 10:
		return exit.Errorf(exit.Usage, "0 keeps none ready", "--warm-sessions %d is not 0 to 10", s.WarmSessions)
	}
	return nil
}

func (s *Flags) checkAccess() error {
	if s.TLS.ClientCAFile != "" && s.TLS.CertFile == "" {
		return exit.Errorf(exit.Usage, "also set --tls-cert and --tls-key", "--tls-client-ca needs TLS")
	}
	return nil
}

func (s *Flags) checkLimits() error {
	if err := s.Limits.Check(); err != nil {
		return exit.Errorf(exit.Usage, "run domtap serve --help to see the defaults", "%w", err)
	}
	if s.Traces != "" {
		if err := tracing.Check(s.Traces); err != nil {
			return exit.Errorf(exit.Usage, "for example --otlp http://127.0.0.1:4317", "--otlp: %w", err)
		}
	}
	s.Browser.PageElements = s.Limits.PageElements
	return nil
}

// checkSearch also reads the keys, so that a missing key is reported at the start and not at the first search.
func (s *Flags) checkSearch() error {
	if _, err := s.Search.Searcher(); err != nil {
		return exit.Errorf(exit.Usage, "for example --search-provider brave --search-key-file brave.key, or --search-provider searxng --search-url https://search.example.org", "%w", err)
	}
	return nil
}

// checkRemote reads the headers for remote browsers, so that a mistake is reported at the start and not at the first connection.
func (s *Flags) checkRemote() error {
	if _, err := s.Browsers.Header(); err != nil {
		return exit.Errorf(exit.Usage, "write each line as Authorization: Bearer KEY", "%w", err)
	}
	return nil
}

// checkPages checks the settings for masking and blocking in pages.
func (s *Flags) checkPages() (err error) {
	if err := routes.CheckPresets(s.Browser.Block); err != nil {
		return exit.Errorf(exit.Usage, "", "invalid --block: %w", err)
	}
	if s.Browser.Mask, err = sessions.ParseMask(s.masks); err != nil {
		return exit.Errorf(exit.Usage, `for example --mask values --mask ".balance"`, "--mask %w", err)
	}
	return nil
}

func (s *Flags) checkCluster() error {
	s.Cluster.Role = s.clusterRole.Value
	switch err := s.Cluster.Check(); {
	case err != nil:
		return exit.Errorf(exit.Usage, "see docs/cluster.md for the settings of each kind of node", "%w", err)
	case s.Cluster.Name != "" && s.Browser.UserDataDir != "":
		return exit.Errorf(exit.Usage, "omit --profile or --cluster", "the sessions of a cluster are on any of its nodes, and a profile is on one")
	}
	return nil
}

func (s *Flags) checkPolicy() (err error) {
	const example = "for example --url-policy public,allow=intranet.example:8443,deny=*.evil.example"
	if s.Policy, err = readPolicy(s.urlPolicy); err == nil {
		err = s.CheckPolicy()
	}
	if err != nil {
		return exit.Errorf(exit.Usage, example, "--url-policy: %w", err)
	}
	return allowFiles(&s.Config, s.fileDirs)
}

// allowFiles lets tabs open the files of some directories. A browser on another machine has other files.
func allowFiles(cfg *daemon.Config, dirs []string) error {
	files, err := folders.New(dirs)
	switch {
	case err != nil:
		return exit.Errorf(exit.Usage, "name directories that exist", "--allow-file-dir: %w", err)
	case files.Empty():
		return nil
	case len(cfg.Browsers.Remotes) > 0:
		return exit.Errorf(exit.Usage, "omit --allow-file-dir or --remote", "the files would be those of the browser's machine")
	}
	cfg.Browser.AllowFile = rules.AllowURLIn(files)
	return nil
}
