package servecmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/search/provider"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Flags holds the settings of the daemon.
type Flags struct {
	daemon.Config
	config    string
	logFormat cli.Choice
	logLevel  cli.Choice
	dialogs   cli.Choice
	webMCP    bool
	urlPolicy string
	fileDirs  []string
	masks     []string
	restore   cli.Choice
	// clusterRole is set in programs built with cluster support.
	clusterRole cli.Choice
}

// Register defines a flag for every setting, and binds it to its environment variable.
func (s *Flags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	s.registerListen(f)
	s.registerAccess(f)
	s.registerBrowser(f)
	s.registerPages(cmd)
	s.registerSearch(f)
	s.registerCounts(f)
	s.registerCalls(f)
	registerRecording(f, &s.Recording)
	s.registerDiagnostics(cmd)
	s.registerCluster(cmd)
	f.StringVar(&s.config, "config", "", "the configuration `FILE`; flags and variables take precedence (default: config in --state-dir, or domtap/config in the configuration directory)")
	cli.BindEnv(f, "config")
	cli.StateDirFlag(f, &s.Browser.StateDir)
	f.BoolVar(&s.OnDemand, "on-demand", false, "started by a client command")
	_ = f.MarkHidden("on-demand") // fails only if the flag does not exist
}

// registerListen defines the flags of the addresses.
func (s *Flags) registerListen(f *pflag.FlagSet) {
	f.StringVar(&s.Socket, "socket", "", "the unix socket; empty means none (default: domtap.sock in --state-dir, or domtap/domtap.sock in $XDG_RUNTIME_DIR)")
	f.StringVar(&s.Listen, "listen", listen.DefaultAddress, "the TCP address; empty means none")
	f.StringVar(&s.Web.Address, "web", "", "serve the calls as JSON over HTTP (Connect, gRPC-Web) on this TCP address, such as "+listen.DefaultWebAddress+"; empty means off")
	f.BoolVar(&s.Web.UI, "ui", false, "serve a live page of the tabs on the address of --web (without --web, on "+listen.DefaultWebAddress+")")
	f.StringArrayVar(&s.Web.Hosts, "web-host", nil, "an additional host name of --web; may be repeated")
	f.StringArrayVar(&s.Web.Origins, "web-origin", nil, "an origin whose pages may call --web, such as http://localhost:5173; may be repeated")
	f.StringVar(&s.TLS.CertFile, "tls-cert", "", "a PEM file with the certificate for the TCP addresses")
	f.StringVar(&s.TLS.KeyFile, "tls-key", "", "a PEM file with the key of the certificate")
	cli.BindEnv(f, "socket", "listen", "web", "ui", "web-host", "web-origin", "tls-cert", "tls-key")
}

// registerAccess defines the flags that control access.
func (s *Flags) registerAccess(f *pflag.FlagSet) {
	f.StringVar(&s.TokenFile, "token-file", "", "the file with the bearer token, created if missing (default: token in --state-dir, or domtap/token in the configuration directory)")
	f.StringVar(&s.Access.ClientsFile, "clients", "", "a file with named clients, which have their own sessions; one line \"NAME all|read sha256:SUM\" per token (domtap token new); mode 0600")
	f.StringVar(&s.TLS.ClientCAFile, "tls-client-ca", "", "a PEM file with the authorities that sign client certificates; a certificate's name is the name of the client")
	cli.BindEnv(f, "token-file", "clients", "tls-client-ca")
}

// registerBrowser defines the flags of the browsers.
func (s *Flags) registerBrowser(f *pflag.FlagSet) {
	f.StringVar(&s.Browser.ChromePath, "chrome", "", "the browser to start (default: with --headless the headless shell if installed, otherwise the first Chromium or Chrome found)")
	f.StringArrayVar(&s.Browser.Flags, "chrome-flag", nil, "an extra flag for the browser, such as proxy-server=HOST:PORT; may be repeated")
	f.BoolVar(&s.Browser.Headless, "headless", true, "run the browser without windows; --headless=false shows windows and needs a full browser")
	f.IntVar(&s.Browser.PageNice, "page-nice", 0, "how much the nice value of page processes exceeds the daemon's, 0 to 19; with many busy pages, 10 gives priority to calls and streams (Linux)")
	f.IntVar(&s.Browsers.Count, "browsers", 1, "number of browsers to start; a session goes to the least loaded browser, and a crash affects only the sessions of that browser")
	f.StringArrayVar(&s.Browsers.Remotes, "remote", nil, "attach to a running browser instead of starting one: http://HOST:PORT, ws://…, wss://…, or auto for one of this machine (auto:NAME or auto:FOLDER of several); may be repeated for more browsers (also: --cdp-url)")
	f.StringVar(&s.Browsers.RemoteHeaderFile, "remote-header-file", "", "a `FILE` with headers for --remote, one \"NAME: VALUE\" per line, mode 0600 (default: the lines in $"+daemon.RemoteHeadersVariable+")")
	f.StringVar(&s.Browser.UserDataDir, "profile", "", "keep the default session in this directory across restarts (default: not kept)")
	f.StringVar(&s.Browser.UserDataDir, "user-data-dir", "", "another name for --profile")
	_ = f.MarkHidden("user-data-dir") // fails only if the flag does not exist
	cli.BindEnv(f, "chrome", "chrome-flag", "headless", "page-nice", "browsers", "remote", "remote-header-file", "profile", "user-data-dir")
}

// registerPages defines the flags for the permissions of pages and clients.
func (s *Flags) registerPages(cmd *cobra.Command) {
	f := cmd.Flags()
	policyFlag(f, &s.urlPolicy)
	f.StringArrayVar(&s.fileDirs, "allow-file-dir", nil, "a directory whose files tabs may open as file: URLs, such as exported traces; every client can then read them; may be repeated (default: none)")
	f.StringArrayVar(&s.masks, "mask", nil, `what to mask in every response of all sessions, "values" (of fields) or a CSS selector; may be repeated`)
	f.StringSliceVar(&s.Browser.Block, "block", nil, "requests to block in all sessions: "+strings.Join(routes.Presets, ", ")+"; may be repeated")
	f.StringArrayVar(&s.UploadDirs, "upload-dir", nil, "a directory whose files clients may upload by path; may be repeated (default: none)")
	f.StringVar(&s.Browser.DownloadDir, "downloads-dir", "", "the directory for downloads, with a subdirectory per session (default: a directory that is removed when the daemon stops)")
	f.Int64Var(&s.Browser.MaxDownloadBytes, "max-downloads-bytes", 2<<30, "maximum size of all downloads in bytes; a download that exceeds the limit is canceled")
	f.BoolVar(&s.webMCP, "webmcp", true, "let pages offer tools to clients (WebMCP); --webmcp=false hides the interface from pages; a --remote browser decides itself")
	f.BoolVar(&s.AllowEval, "allow-eval", false, "allow clients to run scripts in pages (Evaluate, domtap eval); each call is logged without the script")
	cli.ChoiceFlag(cmd, &s.dialogs, "dialogs", "", "how JavaScript dialogs are answered: report waits for a client, accept and dismiss answer immediately", "report", "accept", "dismiss")
	cli.ChoiceFlag(cmd, &s.restore, "restore-tabs", "", "when to restore the tabs opened with domtap open --restore: killed (after the daemon was killed), "+
		"always (also after it was stopped) or never (nothing is stored)", "killed", "always", "never")
	cli.BindEnv(f, "allow-file-dir", "mask", "block", "upload-dir", "downloads-dir", "max-downloads-bytes", "webmcp", "allow-eval", "dialogs", "restore-tabs")
}

// registerSearch defines the flags of web search. Keys are in files or in a variable without a flag, because every user of the machine can
// see arguments.
func (s *Flags) registerSearch(f *pflag.FlagSet) {
	f.StringArrayVar(&s.Search.Providers, "search-provider", nil, "search the web with this provider: "+strings.Join(provider.Names, ", ")+"; may be repeated in order of preference (default: none)")
	f.StringArrayVar(&s.Search.KeyFiles, "search-key-file", nil, "the file with the provider's key, mode 0600; NAME=FILE if there are several providers; may be repeated (default: the key in $"+daemon.SearchKeyVariable+")")
	f.StringArrayVar(&s.Search.URLs, "search-url", nil, "the URL of the SearXNG instance, or of a gateway to another provider; NAME=URL if there are several providers; may be repeated")
	f.StringVar(&s.Search.Engine, "search-engine", "", "the ID of the search engine (cx), which google requires")
	cli.BindEnv(f, "search-provider", "search-key-file", "search-url", "search-engine")
}

// registerCounts defines the flags for the number and the lifetime of tabs and sessions.
func (s *Flags) registerCounts(f *pflag.FlagSet) {
	l := &s.Limits
	f.IntVar(&s.MaxTabs, "max-tabs", 100, "maximum number of open tabs")
	f.IntVar(&s.MaxSessions, "max-sessions", 50, "maximum number of sessions, including the default session")
	f.IntVar(&s.WarmSessions, "warm-sessions", 1, "number of spare sessions to keep ready after the first session was created, at about 30 MB each; 0 means none")
	f.IntVar(&l.TabsPerClient, "max-tabs-per-client", 50, "maximum number of tabs of a named client (--clients), including windows that pages open")
	f.IntVar(&l.SessionsPerClient, "max-sessions-per-client", 25, "maximum number of sessions of a named client, including its default session")
	f.IntVar(&l.PageElements, "max-page-elements", observer.MaxElements, "maximum number of elements kept per document, at up to 1 KB each in the page; responses report omitted elements")
	f.DurationVar(&l.Idle.Tab, "tab-idle", 0, "close tabs that no call or stream used for this long, such as 8h; 0 means never")
	f.DurationVar(&l.Idle.Freeze, "freeze-idle", 0, "freeze the pages of tabs that no call or stream used for this long, until they are used again; frozen pages run no timers; 0 means never")
	f.DurationVar(&l.Idle.Session, "session-idle", 0, "close sessions, except the default session, and their tabs if they were not used for this long; 0 means never")
	f.DurationVar(&l.ExitIdle, "exit-idle", 30*time.Minute, "stop a daemon that a command started after this long without tabs, connections and sessions other than the default; 0 means never")
	cli.BindEnv(f, "max-tabs", "max-sessions", "warm-sessions", "max-tabs-per-client", "max-sessions-per-client", "max-page-elements", "tab-idle", "freeze-idle", "session-idle", "exit-idle")
}

// registerCalls defines the flags that limit calls.
func (s *Flags) registerCalls(f *pflag.FlagSet) {
	l := &s.Limits
	f.Float64Var(&l.CallsPerSecond, "max-calls-per-second", 2000, "maximum number of calls that a client may start per second, on average; 0 means no limit")
	f.IntVar(&l.Burst, "max-calls-burst", 0, "maximum number of calls that a client may start in a burst (default: twice --max-calls-per-second)")
	f.IntVar(&l.Streams, "max-streams", 4000, "maximum number of open streams; 0 means no limit")
	f.IntVar(&l.StreamsPerClient, "max-streams-per-client", 1000, "maximum number of open streams of one client; 0 means no limit")
	f.IntVar(&l.Connections, "max-connections", 1000, "maximum number of connections; 0 means no limit")
	f.IntVar(&l.RequestBytes, "max-request-bytes", 12<<20, "maximum size of a request in bytes")
	f.IntVar(&l.ResponseBytes, "max-response-bytes", listen.MaxMessage, "maximum size of a response in bytes, at most 64 MiB, the limit of clients")
	f.IntVar(&l.Mailbox, "mailbox", 64, "maximum number of calls that wait for one tab")
	cli.BindEnv(f, "max-calls-per-second", "max-calls-burst", "max-streams", "max-streams-per-client", "max-connections", "max-request-bytes", "max-response-bytes", "mailbox")
}

// registerRecording defines the flags of recordings.
func registerRecording(f *pflag.FlagSet, r *daemon.Recording) {
	f.StringVar(&r.Dir, "record", "", "record all tabs to files in this directory (default: record only with domtap record start, to the directory recordings in --state-dir)")
	f.Int64Var(&r.KeepBytes, "record-max-bytes", 2<<30, "remove the oldest recordings from the directory of --record if all together have more bytes; 0 means never")
	f.DurationVar(&r.KeepAge, "record-max-age", 7*24*time.Hour, "remove recordings from the directory of --record this long after they ended; 0 means never")
	cli.BindEnv(f, "record", "record-max-bytes", "record-max-age")
}

// registerDiagnostics defines the flags of logs, metrics, traces and profiles.
func (s *Flags) registerDiagnostics(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.ChoiceFlag(cmd, &s.logFormat, "log-format", "", "the format of the log on standard error", "text", "json")
	cli.ChoiceFlag(cmd, &s.logLevel, "log-level", "", "the log level", "info", "debug", "warn", "error")
	f.StringVar(&s.Metrics, "metrics", "", "serve Prometheus metrics at http://ADDR/metrics, such as 127.0.0.1:9464; without a host, on loopback; empty means off")
	f.StringVar(&s.Traces, "otlp", "", "send OpenTelemetry traces to this collector, such as http://127.0.0.1:4317; the variables OTEL_* set the rest; empty means off")
	f.StringVar(&s.Debug, "debug", "", "serve profiles (pprof) on this loopback address, such as 127.0.0.1:6060, with the token; empty means off")
	cli.BindEnv(f, "log-format", "log-level", "metrics", "otlp", "debug")
}
