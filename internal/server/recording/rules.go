package recording

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Limits of recordings, as documented in the proto.
const (
	minRecording    = 1 << 20
	maxRecording    = 64 << 30
	maxRecordingAge = 30 * 24 * time.Hour
)

// Rules are the rules of the requests of RecordingService.
var Rules = rules.Union(
	rules.Of(checkRecord),
	rules.Of(checkStopRecording),
	rules.Of(checkListRecordings),
)

func checkRecord(v *rules.Violations, r *domtapv1.RecordRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
	rules.Range(v, "max_bytes", r.MaxBytes, minRecording, maxRecording, "must be 1 MB to 64 GB; unset means 256 MB")
	age := r.GetMaxAge()
	v.Want(age == nil || rules.Within(age, time.Second, maxRecordingAge), "max_age", "must be 1 s to 30 days; unset means 24 hours")
}

func checkStopRecording(v *rules.Violations, r *domtapv1.StopRecordingRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
	v.MaxBytes("recording_id", r.GetRecordingId(), rules.MaxID)
	v.Want(r.GetRecordingId() == "" || r.GetTabId()+r.GetSessionId() == "", "recording_id", "must not be set together with tab_id or session_id")
}

func checkListRecordings(v *rules.Violations, r *domtapv1.ListRecordingsRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
}

// checkScope checks the names of a tab and a session. At most one of them may be set.
func checkScope(v *rules.Violations, tab, session string) {
	v.MaxBytes("tab_id", tab, rules.MaxID)
	v.SessionID(session)
	v.Want(tab == "" || session == "", "session_id", "must not be set together with tab_id")
}
