// Package daemon runs the daemon.
//
// Run owns everything: it claims the socket, starts the browsers, serves their tabs, and stops all of them in reverse order. When Run
// returns, only the log remains. Its counterpart endpoint.Launch starts a process that calls Run, and waits until the daemon listens. The
// process reports that through a pipe.
package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// closeLimit limits how long the browsers may take to stop when the daemon ends.
const closeLimit = 10 * time.Second

// Config configures a daemon. At least one of Socket and Listen is set. Paths are absolute.
type Config struct {
	// Socket is the path of the unix socket. If empty, there is none.
	Socket string
	// Listen is the TCP address. If empty, there is none.
	Listen string
	TLS    listen.TLS
	// Web configures another TCP address, for HTTP.
	Web Web
	// TokenFile contains the token for the TCP addresses. It is created if missing.
	TokenFile string
	// Access configures which clients may call, in addition to the operator.
	Access Access
	// Browser configures how the browsers are started, Browsers how many there are.
	Browser  browser.Config
	Browsers Browsers
	MaxTabs  int
	// Policy limits the URLs that tabs may load. If nil, there is no limit.
	Policy *netpolicy.Policy
	// UploadDirs lists the directories whose files may be uploaded to pages.
	UploadDirs []string
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Search configures the web search providers.
	Search Search
	// Dialogs is the dialog policy of the default session.
	Dialogs driver.DialogPolicy
	// Restore selects which tabs of an earlier daemon are restored.
	Restore Restore
	// Recording configures which tabs are recorded, and where.
	Recording Recording
	// MaxSessions limits the number of sessions, including the default session. WarmSessions is the number of sessions kept ready.
	MaxSessions, WarmSessions int
	// Limits limits the resources of clients and pages.
	Limits Limits
	// Cluster configures the daemon as a node of a cluster.
	Cluster Cluster
	// Metrics is the address of the metrics. If empty, there are none. An address without a host is on loopback.
	Metrics string
	// Traces is the address of the trace collector. If empty, nothing is traced.
	Traces string
	// Debug is the loopback address of profiles. If empty, there are none.
	Debug string
	// Version is the version that is reported to other processes.
	Version string
	// OnDemand means that endpoint.Launch started this process.
	OnDemand bool
	Logger   *slog.Logger
}

// errYield ends an on-demand daemon because another daemon serves already.
var errYield = errors.New("another daemon serves already")

func cannotStart(err error) error {
	return exit.Errorf(exit.Unavailable, "run domtap doctor to check what the daemon needs", "the daemon cannot start: %w", err)
}

// Run runs the daemon until ctx ends, which is not an error. A browser that dies is restarted. If the first browser cannot start, Run
// returns an error. The claim on the socket is held until the browsers have stopped.
func Run(ctx context.Context, cfg Config) error {
	if cfg.OnDemand {
		endpoint.KeepReady() // so that the browser does not inherit the pipe
	}
	if err := os.MkdirAll(cfg.Browser.StateDir, 0o700); err != nil {
		return cannotStart(err)
	}
	if cfg.Socket != "" {
		claim, err := cfg.claim(ctx)
		if errors.Is(err, errYield) {
			return nil
		}
		if err != nil {
			return cannotStart(err)
		}
		defer func() { _ = claim.Release() }() // the end of the process also releases the claim
		until, release := claim.Until(ctx)
		defer release()
		ctx = until
	}
	return cfg.runBrowsers(ctx)
}

// claim claims the socket. An on-demand daemon yields to a daemon that serves, and waits while another daemon starts or stops.
func (cfg Config) claim(ctx context.Context) (*instance.Claim, error) {
	if err := os.MkdirAll(filepath.Dir(cfg.Socket), 0o700); err != nil {
		return nil, err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		claim, err := instance.Acquire(cfg.Socket, cfg.Version)
		var taken *instance.TakenError
		if !cfg.OnDemand || !errors.As(err, &taken) {
			return claim, err
		}
		if (endpoint.Target{Socket: cfg.Socket}).Answers(ctx) {
			return nil, errYield
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// runBrowsers starts the browsers, serves their tabs, and stops the browsers.
func (cfg Config) runBrowsers(ctx context.Context) error {
	closeProxy, err := cfg.startProxy(ctx)
	if err != nil {
		return cannotStart(err)
	}
	defer closeProxy()
	starters, err := cfg.Browsers.starters(cfg.Browser)
	if err != nil {
		return err
	}
	browsers, err := browserpool.Start(ctx, browserpool.Config{Starters: starters, Warm: cfg.WarmSessions, Logger: cfg.Logger})
	if err != nil {
		return cannotStart(err)
	}
	err = cfg.serve(ctx, browsers)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	err = errors.Join(err, browsers.Close(closing))
	cfg.Logger.Info("stopped")
	return err
}
