// Package services implements the handlers of the API, except for the handlers of PageService, which are in package pages. A handler finds
// the tab or session through package authz, calls it, and converts the result. Requests have been validated before (package rules), and
// errors are converted to statuses afterwards (package rpcstatus).
//
// Each call computes its view from an immutable snapshot, so no call affects the view of another. No handler logs page content or typed
// text.
package services

import (
	"log/slog"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/pages"
	"github.com/domtap/domtap/internal/server/reading"
	"github.com/domtap/domtap/internal/server/recorder"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/streaming"
	"github.com/domtap/domtap/internal/server/timelines"
	"github.com/domtap/domtap/internal/server/uploads"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// Config holds the dependencies of the handlers.
type Config struct {
	// DaemonID identifies this daemon to clients that call several daemons.
	DaemonID string
	// Version is the version of the program. It is empty if unknown.
	Version string
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Views records the views that callers have received.
	Views *views.Cache
	// Usage holds the usage figures that GetStats reports.
	Usage *usage.Recorder
	// Streams serves WatchDom and WatchTabs.
	Streams *streaming.Streams
	// Uploads defines which files may be uploaded to pages.
	Uploads uploads.Policy
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Searcher searches the web. If nil, Search has no providers.
	Searcher *search.Searcher
	// Timelines holds the timelines of the tabs and the pauses of clients.
	Timelines *timelines.Timelines
	// Node is the name of this node, and Cluster serves the cluster's admin API. Outside a cluster they are empty and nil.
	Node    string
	Cluster domtapv1.ClusterServiceServer
	// Recorder records tabs. If nil, recording is off.
	Recorder *recorder.Recorder
	// LivePage is the page that DaemonService starts and stops. If nil, the daemon has no live page.
	LivePage LivePage
	// Replay serves recordings instead of live tabs. If nil, the tabs are live.
	Replay *replay.Player
	// Logger receives events that operators must know, such as executed scripts.
	Logger *slog.Logger
}

// core holds what the services share.
type core struct {
	Config
	read *reading.Reader
}

// Services holds the services of the API.
type Services struct{ core *core }

// New creates the services.
func New(cfg Config) *Services {
	if cfg.Cluster == nil {
		cfg.Cluster = noCluster{}
	}
	return &Services{&core{cfg, &reading.Reader{Access: cfg.Access, Views: cfg.Views, Replay: cfg.Replay}}}
}

// Register registers the services with a server.
func (s *Services) Register(r grpc.ServiceRegistrar) {
	domtapv1.RegisterTabServiceServer(r, &tabService{core: s.core})
	domtapv1.RegisterDomServiceServer(r, &domService{core: s.core})
	domtapv1.RegisterActionServiceServer(r, &actionService{core: s.core})
	domtapv1.RegisterPageServiceServer(r, pages.New(pages.Config{
		Version: s.core.Version, Access: s.core.Access, Views: s.core.Views, Streams: s.core.Streams, AllowEval: s.core.AllowEval,
		Replay: s.core.Replay, Reader: s.core.read, Logger: s.core.Logger,
	}))
	domtapv1.RegisterSessionServiceServer(r, &sessionService{core: s.core})
	domtapv1.RegisterStorageServiceServer(r, &storageService{core: s.core})
	domtapv1.RegisterContextServiceServer(r, &contextService{core: s.core})
	domtapv1.RegisterStatsServiceServer(r, &statsService{core: s.core})
	domtapv1.RegisterNetworkServiceServer(r, &networkService{core: s.core})
	domtapv1.RegisterTimelineServiceServer(r, &timelineService{core: s.core})
	domtapv1.RegisterSearchServiceServer(r, &searchService{core: s.core})
	domtapv1.RegisterClusterServiceServer(r, s.core.Cluster)
	domtapv1.RegisterRecordingServiceServer(r, &recordingService{core: s.core})
	if s.core.Replay != nil {
		domtapv1.RegisterReplayServiceServer(r, s.core.Replay)
	} else {
		domtapv1.RegisterReplayServiceServer(r, replay.Unavailable{Access: s.core.Access})
	}
	domtapv1.RegisterDaemonServiceServer(r, &daemonService{core: s.core})
}
