package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/cmd/domtap/internal/supervisor"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/actions/uploads"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/sessions"
)

// services holds the parts of a daemon above its browsers.
type services struct {
	listeners []net.Listener
	pool      *tabpool.Pool
	sessions  *sessions.Sessions
	server    *server.Server
	// node is the daemon's part of a cluster. ready tracks whether the daemon accepts calls.
	node  clusterNode
	ready *readiness
	// stops holds the functions that undo start.
	stops []func()
}

// serve serves the browsers' tabs until ctx ends.
func (cfg Config) serve(ctx context.Context, browsers *browserpool.Pool) error {
	var s services
	defer s.stop()
	if err := s.start(ctx, cfg, browsers); err != nil {
		return errors.Join(cannotStart(err), s.abort(ctx))
	}
	s.announce(cfg)
	until, stop := s.node.drainBeforeStop(ctx, &s)
	defer stop()
	until, stopIdle := cfg.closeIdle(until, s.server, s.pool, s.sessions)
	defer stopIdle()
	return s.server.Serve(until, s.listeners...)
}

// start creates the parts, from the listeners to the HTTP gateway.
func (s *services) start(ctx context.Context, cfg Config, browsers *browserpool.Pool) error {
	files, err := uploads.New(cfg.UploadDirs)
	if err != nil {
		return fmt.Errorf("--upload-dir: %w", err)
	}
	searcher, err := cfg.Search.Searcher()
	if err != nil {
		return err
	}
	listeners, token, err := cfg.listeners(ctx)
	if err != nil {
		return err
	}
	s.listeners = listeners
	clients, unfollow, err := cfg.clients(ctx, token)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, unfollow)
	tabs := cfg.tabs()
	calls := server.Config{Version: cfg.Version, Token: token, Clients: clients, Logger: cfg.Logger, Uploads: files, AllowEval: cfg.AllowEval, Searcher: searcher, Limits: cfg.Limits.Config}
	cfg.record(&calls)
	observers, err := cfg.observe(ctx, token, &tabs, &calls)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, observers.stop)
	if s.node, err = cfg.cluster(ctx); err != nil {
		return err
	}
	s.stops = append(s.stops, s.node.close)
	s.startTabs(ctx, cfg, browsers, tabs)
	calls.Sessions = s.sessions
	if err = s.node.join(ctx, s, &calls); err != nil {
		return err
	}
	page := newLivePage(cfg, token)
	calls.LivePage = page
	if s.server, err = server.New(s.pool, calls); err != nil {
		return err
	}
	observers.follow(browsers, s)
	s.ready = &readiness{tell: s.server.SetReady, member: true}
	browsers.OnChange(func(up int) { s.ready.setBrowser(up > 0) })
	if err = s.node.start(s); err != nil {
		return err
	}
	return page.begin(ctx, s.server)
}

// tabs returns the configuration of the tab pool.
func (cfg Config) tabs() tabpool.Config {
	return tabpool.Config{
		MaxTabs: cfg.MaxTabs, Mailbox: cfg.Limits.Mailbox, Logger: cfg.Logger, AllowURL: cfg.allowURL, Dialogs: cfg.Dialogs,
		Opaque: ofClient, Quota: quota(cfg.Limits.TabsPerClient),
	}
}

// startTabs creates the tab pool and the sessions, and restores the tabs of an earlier daemon.
func (s *services) startTabs(ctx context.Context, cfg Config, browsers *browserpool.Pool, tabs tabpool.Config) {
	kept, closeJournal := cfg.keepTabs(ctx, &tabs)
	s.stops = append(s.stops, closeJournal)
	all := sessions.Config{Max: cfg.MaxSessions, Quota: quota(cfg.Limits.SessionsPerClient), Logger: cfg.Logger}
	s.node.prepare(&tabs, &all)
	tabs.ReadAhead = true
	s.pool = tabpool.New(browsers, tabs)
	s.sessions = sessions.New(s.pool, browsers, all)
	kept.restore(cfg, s.pool, s.sessions)
}

// abort closes what a failed start leaves open. After a successful start, the server closes the pool and the listeners.
func (s *services) abort(ctx context.Context) error {
	var err error
	if s.pool != nil {
		err = s.pool.Close(ctx)
	}
	return errors.Join(err, closeAll(s.listeners))
}

// stop undoes the rest of start, in reverse order.
func (s *services) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

// announce reports that the daemon is ready, to the log, the service manager and the command that started the daemon.
func (s *services) announce(cfg Config) {
	for _, l := range s.listeners {
		cfg.Logger.Info("listening", "network", l.Addr().Network(), "address", l.Addr().String())
	}
	manager := supervisor.New(os.LookupEnv, os.Getpid())
	if err := manager.Notify("READY=1"); err != nil {
		cfg.Logger.Warn("the service manager was not notified that the daemon is ready", "error", err)
	}
	s.stops = append(s.stops, manager.KeepAlive(func() { s.pool.Tabs() }))
	if cfg.OnDemand {
		if err := endpoint.NotifyReady(); err != nil {
			cfg.Logger.Warn("the command that started the daemon is gone", "error", err)
		}
	}
}

// listeners opens the gRPC listeners and reads the token of the TCP addresses.
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
	// A daemon that serves only a unix socket needs the token only for its live page. Until that is requested, it works without one.
	token, err = listen.Token(cfg.TokenFile)
	if err != nil && (cfg.Listen != "" || cfg.Web.Address != "" || cfg.Debug != "") {
		return all, "", err
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
