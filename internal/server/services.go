package server

import (
	"crypto/rand"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/actions"
	"github.com/domtap/domtap/internal/server/cluster"
	"github.com/domtap/domtap/internal/server/contexts"
	"github.com/domtap/domtap/internal/server/daemon"
	"github.com/domtap/domtap/internal/server/dom"
	"github.com/domtap/domtap/internal/server/network"
	"github.com/domtap/domtap/internal/server/pages"
	"github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/server/search"
	"github.com/domtap/domtap/internal/server/sessions"
	"github.com/domtap/domtap/internal/server/stats"
	"github.com/domtap/domtap/internal/server/storage"
	"github.com/domtap/domtap/internal/server/tabs"
	"github.com/domtap/domtap/internal/server/tabview/reading"
	"github.com/domtap/domtap/internal/server/timeline"
	"github.com/domtap/domtap/internal/server/tools"
)

// requestRules are the rules of the requests of all services.
var requestRules = rules.Union(
	tabs.Rules, dom.Rules, actions.Rules, pages.Rules, sessions.Rules, storage.Rules, contexts.Rules, stats.Rules, network.Rules, timeline.Rules,
	search.Rules, cluster.Rules, recording.Rules, replay.Rules, daemon.Rules, tools.Rules,
)

// services holds the services of the API.
type services struct {
	tabs      *tabs.Service
	dom       *dom.Service
	actions   *actions.Service
	tools     *tools.Service
	pages     *pages.Service
	sessions  *sessions.Service
	storage   *storage.Service
	contexts  *contexts.Service
	stats     *stats.Service
	network   *network.Service
	timeline  *timeline.Service
	search    *search.Service
	recording *recording.Service
	daemon    *daemon.Service
	cluster   domtapv1.ClusterServiceServer
	replay    domtapv1.ReplayServiceServer
}

// newServices creates the services from the parts of the server that they share.
func (s *Server) newServices() *services {
	cfg, access, streams := s.cfg, s.access, s.streams
	reader := &reading.Reader{Access: access, Views: s.views, Replay: cfg.Replay}
	all := &services{
		tabs:    &tabs.Service{DaemonID: rand.Text(), Node: cfg.Node, Access: access, Reader: reader, Streams: streams},
		dom:     &dom.Service{Access: access, Views: s.views, Reader: reader, Replay: cfg.Replay, Streams: streams},
		actions: &actions.Service{Access: access, Views: s.views, Reader: reader, Uploads: cfg.Uploads},
		pages: pages.New(pages.Config{
			Version: cfg.Version, Access: access, Views: s.views, Streams: streams, AllowEval: cfg.AllowEval,
			Replay: cfg.Replay, Reader: reader, Logger: cfg.Logger,
		}),
		sessions:  &sessions.Service{Access: access, Usage: s.usage, Timelines: s.timelines},
		storage:   &storage.Service{Access: access},
		contexts:  &contexts.Service{Access: access},
		stats:     &stats.Service{Access: access, Usage: s.usage},
		network:   &network.Service{Access: access},
		timeline:  &timeline.Service{Access: access, Timelines: s.timelines, Streams: streams},
		search:    &search.Service{Searcher: cfg.Searcher},
		recording: &recording.Service{Access: access, Recorder: s.recordings, Replay: cfg.Replay},
		daemon:    &daemon.Service{LivePage: cfg.LivePage},
		cluster:   cfg.Cluster,
		replay:    cfg.Replay,
	}
	all.tools = &tools.Service{Access: access, Actions: all.actions, Streams: streams}
	if cfg.Cluster == nil {
		all.cluster = cluster.None{}
	}
	if cfg.Replay == nil {
		all.replay = replay.Unavailable{Access: access}
	}
	return all
}

// register registers the services with a server or a front.
func (s *services) register(r grpc.ServiceRegistrar) {
	domtapv1.RegisterTabServiceServer(r, s.tabs)
	domtapv1.RegisterDomServiceServer(r, s.dom)
	domtapv1.RegisterActionServiceServer(r, s.actions)
	domtapv1.RegisterToolServiceServer(r, s.tools)
	domtapv1.RegisterPageServiceServer(r, s.pages)
	domtapv1.RegisterSessionServiceServer(r, s.sessions)
	domtapv1.RegisterStorageServiceServer(r, s.storage)
	domtapv1.RegisterContextServiceServer(r, s.contexts)
	domtapv1.RegisterStatsServiceServer(r, s.stats)
	domtapv1.RegisterNetworkServiceServer(r, s.network)
	domtapv1.RegisterTimelineServiceServer(r, s.timeline)
	domtapv1.RegisterSearchServiceServer(r, s.search)
	domtapv1.RegisterClusterServiceServer(r, s.cluster)
	domtapv1.RegisterRecordingServiceServer(r, s.recording)
	domtapv1.RegisterReplayServiceServer(r, s.replay)
	domtapv1.RegisterDaemonServiceServer(r, s.daemon)
}
