// Package daemon runs the daemon.
//
// Run owns everything: it claims the socket, starts the browsers, serves their tabs, and stops all of them in
// reverse order. When Run returns, only the log is left. endpoint.Launch is the other side: it starts a
// process that calls Run, and waits until the daemon listens; the process reports that by a pipe.
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
	"github.com/domtap/domtap/internal/server/listen"
)

// closeLimit bounds how long the browsers take to stop at the end of the daemon.
const closeLimit = 10 * time.Second

// Config sets up a daemon. At least one of Socket and Listen is set; paths are absolute.
type Config struct {
	// Socket is the unix socket; empty: none.
	Socket string
	// Listen is the TCP address; empty: none.
	Listen string
	TLS    listen.TLS
	// Web is another TCP address, for HTTP.
	Web Web
	// TokenFile holds the token for the TCP addresses, and is created if missing.
	TokenFile string
	// Access is who may call besides the operator.
	Access Access
	// Browser is how the browsers are started, Browsers how many there are.
	Browser  browser.Config
	Browsers Browsers
	MaxTabs  int
	// Policy limits the URLs that tabs may load; nil: none.
	Policy *netpolicy.Policy
	// UploadDirs are the directories whose files may be uploaded to pages.
	UploadDirs []string
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Search is which providers search the web.
	Search Search
	// Dialogs is who answers the dialogs of the session named default.
	Dialogs driver.DialogPolicy
	// Restore is which tabs of an earlier daemon are restored.
	Restore Restore
	// Recording is which tabs are recorded, and where.
	Recording Recording
	// MaxSessions is the most sessions, including the default session; WarmSessions is how many are kept ready.
	MaxSessions, WarmSessions int
	// Limits bound what clients and pages use.
	Limits Limits
	// Cluster is the cluster that the daemon is a node of.
	Cluster Cluster
	// Metrics is the address of the metrics; empty: none. Without a host it is on loopback.
	Metrics string
	// Traces is the collector of traces; empty: none.
	Traces string
	// Debug is the loopback address of profiles; empty: none.
	Debug string
	// Version is the version that other processes see.
	Version string
	// OnDemand is whether endpoint.Launch started this process.
	OnDemand bool
	Logger   *slog.Logger
}

// errYield ends a daemon on demand that found another daemon serving.
var errYield = errors.New("another daemon serves already")

func cannotStart(err error) error {
	return exit.Errorf(exit.Unavailable, "domtap doctor checks what the daemon needs", "the daemon cannot start: %w", err)
}

// Run runs the daemon until ctx ends, which is not an error. A browser that dies is restarted; a first browser
// that cannot start is an error. The claim on the socket is held until the browsers have stopped.
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
		defer func() { _ = claim.Release() }() // the end of the process releases the claim, too
		until, release := claim.Until(ctx)
		defer release()
		ctx = until
	}
	return cfg.runBrowsers(ctx)
}

// claim claims the socket. A daemon on demand yields to a daemon that serves, and waits while another daemon
// starts or stops.
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
