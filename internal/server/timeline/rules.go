package timeline

import (
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	// maxReason limits a person's message to a paused client, in characters.
	maxReason = 500
	maxKinds  = 16
)

// Rules are the rules of the requests of TimelineService.
var Rules = rules.Union(
	rules.Of(checkGetTimeline),
	rules.Of(checkWatchTimeline),
	rules.Of(checkPauseClient),
	rules.Of(checkResumeClient),
	rules.Of(checkTakeOver),
	rules.Of(checkHandBack),
	rules.Of(checkListPauses),
)

func checkGetTimeline(v *rules.Violations, r *domtapv1.GetTimelineRequest) {
	checkEntries(v, r)
	rules.Range(v, "limit", r.Limit, 1, 1000, "must be 1 to 1000; unset means 100")
	v.Want(r.GetAfterId() == 0 || r.GetBeforeId() == 0 || r.GetAfterId() < r.GetBeforeId(), "before_id", "must be more than after_id")
}

func checkWatchTimeline(v *rules.Violations, r *domtapv1.WatchTimelineRequest) { checkEntries(v, r) }

// checkEntries checks the common fields of requests that select timeline entries.
func checkEntries(v *rules.Violations, r interface {
	GetTabId() string
	GetKinds() []domtapv1.TimelineKind
	GetClient() string
}) {
	v.TabID(r.GetTabId())
	for _, kind := range r.GetKinds() {
		v.Want(rules.IsKnown(kind) && kind != domtapv1.TimelineKind_TIMELINE_KIND_UNSPECIFIED, "kinds", "must be kinds of entries, such as TIMELINE_KIND_TURN")
	}
	v.Want(len(r.GetKinds()) <= maxKinds, "kinds", "must be at most 16")
	checkClientName(v, r.GetClient())
}

func checkClientName(v *rules.Violations, name string) {
	v.Want(utf8.RuneCountInString(name) <= rules.MaxClientID, "client", "must have at most 100 characters")
}

// checkPlace checks that a request names either a tab or a session.
func checkPlace(v *rules.Violations, r interface {
	GetTabId() string
	GetSessionId() string
}) {
	v.Want((r.GetTabId() == "") != (r.GetSessionId() == ""), "tab_id", "is required, or session_id in its place")
	v.MaxBytes("tab_id", r.GetTabId(), rules.MaxID)
	v.SessionID(r.GetSessionId())
}

func checkPauseClient(v *rules.Violations, r *domtapv1.PauseClientRequest) {
	checkPlace(v, r)
	v.Want(r.GetClient() != "", "client", "is required: GetTimeline lists the clients of a tab")
	checkClientName(v, r.GetClient())
	checkPausing(v, r.GetReason(), r.GetMode(), r.GetClientId())
}

func checkPausing(v *rules.Violations, reason string, mode domtapv1.PauseMode, client string) {
	v.Want(utf8.RuneCountInString(reason) <= maxReason, "reason", "must have at most 500 characters")
	rules.Known(v, "mode", mode, "must be WAIT or FAIL")
	v.ClientID(client)
}

func checkResumeClient(v *rules.Violations, r *domtapv1.ResumeClientRequest) {
	checkPlace(v, r)
	v.Want(r.GetClient() != "", "client", "is required: ListPauses lists the paused clients")
	checkClientName(v, r.GetClient())
	v.ClientID(r.GetClientId())
}

func checkTakeOver(v *rules.Violations, r *domtapv1.TakeOverRequest) {
	v.TabID(r.GetTabId())
	checkPausing(v, r.GetReason(), r.GetMode(), r.GetClientId())
}

func checkHandBack(v *rules.Violations, r *domtapv1.HandBackRequest) {
	v.TabID(r.GetTabId())
	v.ClientID(r.GetClientId())
}

func checkListPauses(v *rules.Violations, r *domtapv1.ListPausesRequest) { checkPlace(v, r) }
