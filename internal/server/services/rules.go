package services

import (
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
	"github.com/domtap/domtap/internal/server/timeline"
)

// Rules are the rules of the requests of all services.
var Rules = rules.Union(
	tabs.Rules, dom.Rules, actions.Rules, pages.Rules, sessions.Rules, storage.Rules, contexts.Rules, stats.Rules, network.Rules, timeline.Rules,
	search.Rules, cluster.Rules, recording.Rules, replay.Rules, daemon.Rules,
)
