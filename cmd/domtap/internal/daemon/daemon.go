// Package daemon runs the daemon.
//
// Run owns everything: it claims the socket, starts the browser, serves it, and ends them in reverse
// order. When it returns, nothing of it is left but the log. endpoint.Launch is the other side: it starts a
// process that leads to Run, and waits until that listens; the process tells by a pipe, so nobody polls.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/listen"
	"github.com/domtap/domtap/internal/server/uploads"
	"github.com/domtap/domtap/internal/sessions"
)

// closeLimit is how long the browsers may take to end when the daemon does.
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
	// TokenFile holds the token for the TCP addresses, and is made when it is missing.
	TokenFile string
	// Access says who may call besides the operator.
	Access Access
	// Browser is how the browsers are started, Browsers how many there are.
	Browser  browser.Config
	Browsers Browsers
	MaxTabs  int
	// Policy says where tabs may go; nil: anywhere.
	Policy *netpolicy.Policy
	// UploadDirs are the folders whose files pages may be given.
	UploadDirs []string
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Dialogs says who answers the dialogs of the session named default.
	Dialogs actor.DialogPolicy
	// Restore says which tabs of an earlier daemon come back.
	Restore Restore
	// MaxSessions is how many sessions there may be, the default one included; WarmSessions, how many are kept ready.
	MaxSessions, WarmSessions int
	// Limits are what clients and pages may take.
	Limits Limits
	// Metrics is the address that metrics are served on; empty: nothing is measured. Without a host it is loopback.
	Metrics string
	// Traces is the collector that traces are sent to; empty: there are none.
	Traces string
	// Debug is the loopback address that profiles are served on; empty: none.
	Debug string
	// Version is what other processes see of the daemon.
	Version string
	// OnDemand is set when endpoint.Launch started this process.
	OnDemand bool
	Logger   *slog.Logger
}

// errYield says that a daemon which was started on demand found another one that serves.
var errYield = errors.New("another daemon serves already")

func cannotStart(err error) error {
	return exit.Errorf(exit.Unavailable, "domtap doctor checks what the daemon needs", "the daemon cannot start: %w", err)
}

// Run runs the daemon until ctx ends, which is no error. Browsers that die are started again; that the first one
// cannot be started at all is an error. The claim on the socket is held until the browsers have ended.
func Run(ctx context.Context, cfg Config) error {
	if cfg.OnDemand {
		endpoint.KeepReady() // the browser is not to hold it open
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
		defer func() { _ = claim.Release() }() // the end of the process does it too
		until, release := claim.Until(ctx)
		defer release()
		ctx = until
	}
	return cfg.runBrowsers(ctx)
}

// claim claims the socket. A daemon that was started on demand yields to one that serves, and waits for
// one that is starting or ending to do either.
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

// runBrowsers starts the browsers, serves them, and ends them.
func (cfg Config) runBrowsers(ctx context.Context) error {
	closeGate, err := cfg.openGate(ctx)
	if err != nil {
		return cannotStart(err)
	}
	defer closeGate()
	browsers, err := browserpool.Start(ctx, browserpool.Config{Starters: cfg.Browsers.starters(cfg.Browser), Warm: cfg.WarmSessions, Logger: cfg.Logger})
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

// serve serves the browsers' tabs until ctx ends.
func (cfg Config) serve(ctx context.Context, browsers *browserpool.Pool) error {
	files, err := uploads.New(cfg.UploadDirs)
	if err != nil {
		return cannotStart(fmt.Errorf("--upload-dir: %w", err))
	}
	listeners, token, err := cfg.listeners(ctx)
	if err != nil {
		return cannotStart(err)
	}
	tabs := actor.Config{MaxTabs: cfg.MaxTabs, Mailbox: cfg.Limits.Mailbox, Logger: cfg.Logger, AllowURL: cfg.allowURL, Dialogs: cfg.Dialogs, Opaque: ofClient, Quota: quota(cfg.Limits.TabsPerClient)}
	clients, unfollow, err := cfg.clients(ctx, token)
	if err != nil {
		return errors.Join(cannotStart(err), closeAll(listeners))
	}
	defer unfollow()
	calls := server.Config{Token: token, Clients: clients, Logger: cfg.Logger, Uploads: files, AllowEval: cfg.AllowEval, Limits: cfg.Limits.Config}
	looking, err := cfg.observe(ctx, token, &tabs, &calls)
	if err != nil {
		return errors.Join(cannotStart(err), closeAll(listeners))
	}
	defer looking.stop()
	kept, closeBook := cfg.keepTabs(ctx, &tabs)
	defer closeBook()
	pool := actor.NewPool(browsers, tabs)
	if m := looking.measured; m != nil {
		m.FollowTabs(pool)
		m.FollowBrowsers(browsers)
	}
	calls.Sessions = sessions.New(pool, browsers, sessions.Config{Max: cfg.MaxSessions, Quota: quota(cfg.Limits.SessionsPerClient), Logger: cfg.Logger})
	kept.revive(cfg, pool, calls.Sessions)
	server, err := server.New(pool, calls)
	if err != nil {
		return errors.Join(cannotStart(err), pool.Close(ctx), closeAll(listeners))
	}
	if m := looking.measured; m != nil {
		m.FollowUsage(server.Accounts())
	}
	browsers.OnChange(func(up int) { server.SetReady(up > 0) })
	if cfg.Web.Address != "" {
		forget, err := cfg.besideWeb(ctx, server)
		if err != nil {
			return errors.Join(cannotStart(err), pool.Close(ctx), closeAll(listeners))
		}
		defer forget()
	}
	for _, l := range listeners {
		cfg.Logger.Info("listening", "network", l.Addr().Network(), "address", l.Addr().String())
	}
	manager := newManager(os.LookupEnv, os.Getpid())
	if err := manager.tell("READY=1"); err != nil {
		cfg.Logger.Warn("the service manager does not hear that the daemon is ready", "error", err)
	}
	defer manager.live(func() { pool.Tabs() })()
	if cfg.OnDemand {
		if err := endpoint.TellReady(); err != nil {
			cfg.Logger.Warn("the command that started the daemon is gone", "error", err)
		}
	}
	until, stop := cfg.tidy(ctx, server, pool, calls.Sessions)
	defer stop()
	return server.Serve(until, listeners...)
}

// listeners opens what the daemon listens on for gRPC. The token is for the TCP addresses.
func (cfg Config) listeners(ctx context.Context) (all []net.Listener, token string, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
		}
	}()
	if cfg.Listen != "" {
		tcp, err := listen.TCP(ctx, cfg.Listen, cfg.TLS)
		if err != nil {
			return all, "", err
		}
		all = append(all, tcp)
	}
	if cfg.Listen != "" || cfg.Web.Address != "" || cfg.Debug != "" {
		if token, err = listen.Token(cfg.TokenFile); err != nil {
			return all, "", err
		}
	}
	if cfg.Socket != "" {
		socket, err := listen.Socket(ctx, cfg.Socket)
		if err != nil {
			return all, "", err
		}
		all = append(all, socket)
	}
	return all, token, nil
}

func closeAll(listeners []net.Listener) error {
	var err error
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}
