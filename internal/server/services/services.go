// Package services has the handlers of the API. A handler finds the tab or the session through package authz,
// calls it and converts the answer; requests are valid when they get here (package check), and errors get
// their statuses afterwards (package rpcstatus).
//
// A view is computed per call from an immutable snapshot: no call changes what another sees. No handler logs
// page content or typed text.
package services

import (
	"log/slog"
	"time"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/streaming"
	"github.com/domtap/domtap/internal/server/textcache"
	"github.com/domtap/domtap/internal/server/uploads"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// closeGrace is how long closing may take of tabs and sessions whose call is over, such as those of a batch.
const closeGrace = 5 * time.Second

// Config has what the handlers work on.
type Config struct {
	// DaemonID tells this daemon from others that the same clients call one after the other.
	DaemonID string
	// Access is the only way to tabs and sessions.
	Access *authz.Access
	// Views has what the callers have seen of the tabs.
	Views *views.Cache
	// Usage has the usage that GetStats reports.
	Book *usage.Recorder
	// Streams serve WatchDom and WatchTabs.
	Streams *streaming.Streams
	// Uploads says which files may be given to pages.
	Uploads uploads.Policy
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Logger gets what operators must know, such as scripts that were run.
	Logger *slog.Logger
}

// core is what the services share.
type core struct {
	daemonID  string
	access    *authz.Access
	views     *views.Cache
	texts     *textcache.Cache
	book      *usage.Recorder
	streams   *streaming.Streams
	uploads   uploads.Policy
	allowEval bool
	logger    *slog.Logger
}

// New makes the services.
func New(cfg Config) *Services {
	c := &core{
		daemonID: cfg.DaemonID, access: cfg.Access, views: cfg.Views, texts: textcache.New(), book: cfg.Book,
		streams: cfg.Streams, uploads: cfg.Uploads, allowEval: cfg.AllowEval, logger: cfg.Logger,
	}
	return &Services{
		tabs: &tabService{core: c}, dom: &domService{core: c}, actions: &actionService{core: c}, pages: &pageService{core: c},
		sessions: &sessionService{core: c}, contexts: &contextService{core: c}, stats: &statsService{core: c},
	}
}

// Services are the services of the API.
type Services struct {
	tabs     *tabService
	dom      *domService
	actions  *actionService
	pages    *pageService
	sessions *sessionService
	contexts *contextService
	stats    *statsService
}

// Register gives the services to a server.
func (s *Services) Register(r grpc.ServiceRegistrar) {
	domtapv1.RegisterTabServiceServer(r, s.tabs)
	domtapv1.RegisterDomServiceServer(r, s.dom)
	domtapv1.RegisterActionServiceServer(r, s.actions)
	domtapv1.RegisterPageServiceServer(r, s.pages)
	domtapv1.RegisterSessionServiceServer(r, s.sessions)
	domtapv1.RegisterContextServiceServer(r, s.contexts)
	domtapv1.RegisterStatsServiceServer(r, s.stats)
}
