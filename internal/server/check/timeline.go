package check

import (
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// maxReason limits a person's message to a paused client, in characters.
const maxReason = 500

func checkGetTimeline(v *violations, r *domtapv1.GetTimelineRequest) {
	checkEntries(v, r)
	v.want(r.Limit == nil || 1 <= r.GetLimit() && r.GetLimit() <= 1000, "limit", "must be 1 to 1000; unset means 100")
	v.want(r.GetAfterId() == 0 || r.GetBeforeId() == 0 || r.GetAfterId() < r.GetBeforeId(), "before_id", "must be more than after_id")
}

func checkWatchTimeline(v *violations, r *domtapv1.WatchTimelineRequest) { checkEntries(v, r) }

// checkEntries checks the common fields of requests that select timeline entries.
func checkEntries(v *violations, r interface {
	GetTabId() string
	GetKinds() []domtapv1.TimelineKind
	GetClient() string
}) {
	checkTabID(v, r.GetTabId())
	for _, kind := range r.GetKinds() {
		_, known := domtapv1.TimelineKind_name[int32(kind)]
		v.want(known && kind != domtapv1.TimelineKind_TIMELINE_KIND_UNSPECIFIED, "kinds", "must be kinds of entries, such as TIMELINE_KIND_TURN")
	}
	v.want(len(r.GetKinds()) <= maxNames, "kinds", "must be at most 16")
	checkClientName(v, r.GetClient())
}

func checkClientName(v *violations, name string) {
	v.want(utf8.RuneCountInString(name) <= maxClientID, "client", "must have at most 100 characters")
}

// checkPlace checks that a request names either a tab or a session.
func checkPlace(v *violations, r interface {
	GetTabId() string
	GetSessionId() string
}) {
	v.want((r.GetTabId() == "") != (r.GetSessionId() == ""), "tab_id", "is required, or session_id in its place")
	v.want(len(r.GetTabId()) <= maxID, "tab_id", "must have at most 200 bytes")
	checkSessionID(v, r.GetSessionId())
}

func checkPauseClient(v *violations, r *domtapv1.PauseClientRequest) {
	checkPlace(v, r)
	v.want(r.GetClient() != "", "client", "is required: GetTimeline lists the clients of a tab")
	checkClientName(v, r.GetClient())
	checkPausing(v, r.GetReason(), r.GetMode(), r.GetClientId())
}

func checkPausing(v *violations, reason string, mode domtapv1.PauseMode, client string) {
	v.want(utf8.RuneCountInString(reason) <= maxReason, "reason", "must have at most 500 characters")
	_, known := domtapv1.PauseMode_name[int32(mode)]
	v.want(known, "mode", "must be WAIT or FAIL")
	checkClientID(v, client)
}

func checkResumeClient(v *violations, r *domtapv1.ResumeClientRequest) {
	checkPlace(v, r)
	v.want(r.GetClient() != "", "client", "is required: ListPauses lists the paused clients")
	checkClientName(v, r.GetClient())
	checkClientID(v, r.GetClientId())
}

func checkTakeOver(v *violations, r *domtapv1.TakeOverRequest) {
	checkTabID(v, r.GetTabId())
	checkPausing(v, r.GetReason(), r.GetMode(), r.GetClientId())
}

func checkHandBack(v *violations, r *domtapv1.HandBackRequest) {
	checkTabID(v, r.GetTabId())
	checkClientID(v, r.GetClientId())
}

func checkListPauses(v *violations, r *domtapv1.ListPausesRequest) { checkPlace(v, r) }
