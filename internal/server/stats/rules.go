package stats

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of StatsService.
var Rules = rules.Of(checkGetStats)

func checkGetStats(v *rules.Violations, r *domtapv1.GetStatsRequest) {
	v.SessionID(r.GetSessionId())
	v.MaxBytes("tab_id", r.GetTabId(), rules.MaxID)
}
