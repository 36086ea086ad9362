// Package services has the handlers of the API, except those of PageService, which are in package pages. A handler
// finds the tab or the session through package authz, calls it and converts the answer; requests are valid when they
// get here (package check), and errors get their statuses afterwards (package rpcstatus).
//
// A view is computed per call from an immutable snapshot: no call changes what another sees. No handler logs
// page content or typed text.
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

// Config has what the handlers work on.
type Config struct {
	// DaemonID tells this daemon from others that the same clients call one after the other.
	DaemonID string
	// Version is that of the program; empty: it is not known.
	Version string
	// Access is the only way to tabs and sessions.
	Access *authz.Access
	// Views has what the callers have seen of the tabs.
	Views *views.Cache
	// Usage has the usage that GetStats reports.
	Usage *usage.Recorder
	// Streams serve WatchDom and WatchTabs.
	Streams *streaming.Streams
	// Uploads says which files may be given to pages.
	Uploads uploads.Policy
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Searcher searches the web; nil: it has no providers.
	Searcher *search.Searcher
	// Timelines have what happened on the tabs, and what is paused.
	Timelines *timelines.Timelines
	// Node is the node of a cluster that the daemon is, and Cluster operates that; empty and nil: it is none.
	Node    string
	Cluster domtapv1.ClusterServiceServer
	// Recorder records tabs; nil: it is off.
	Recorder *recorder.Recorder
	// LivePage is the page that DaemonService starts and stops; nil: there is none.
	LivePage LivePage
	// Replay has the recordings that this daemon replays; nil: its tabs are live.
	Replay *replay.Player
	// Logger gets what operators must know, such as scripts that were run.
	Logger *slog.Logger
}

// core is what the services share.
type core struct {
	Config
	read *reading.Reader
}

// Services are the services of the API.
type Services struct{ core *core }

// New makes the services.
func New(cfg Config) *Services {
	if cfg.Cluster == nil {
		cfg.Cluster = noCluster{}
	}
	return &Services{&core{cfg, &reading.Reader{Access: cfg.Access, Views: cfg.Views, Replay: cfg.Replay}}}
}

// Register gives the services to a server.
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
		domtapv1.RegisterReplayServiceServer(r, replay.Absent{Access: s.core.Access})
	}
	domtapv1.RegisterDaemonServiceServer(r, &daemonService{core: s.core})
}
