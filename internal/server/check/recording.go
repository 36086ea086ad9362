package check

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Limits of recordings, as documented in the proto.
const (
	minRecording    = 1 << 20
	maxRecording    = 64 << 30
	maxRecordingAge = 30 * 24 * time.Hour
	maxOffset       = 10 * 365 * 24 * time.Hour
	minSpeed        = 0.01
	maxSpeed        = 10_000
)

func checkRecord(v *violations, r *domtapv1.RecordRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
	v.want(r.MaxBytes == nil || minRecording <= r.GetMaxBytes() && r.GetMaxBytes() <= maxRecording, "max_bytes", "must be 1 MB to 64 GB; unset means 256 MB")
	age := r.GetMaxAge()
	v.want(age == nil || within(age, time.Second, maxRecordingAge), "max_age", "must be 1 s to 30 days; unset means 24 hours")
}

func checkStopRecording(v *violations, r *domtapv1.StopRecordingRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
	v.want(len(r.GetRecordingId()) <= maxID, "recording_id", "must have at most 200 bytes")
	v.want(r.GetRecordingId() == "" || r.GetTabId()+r.GetSessionId() == "", "recording_id", "must not be set together with tab_id or session_id")
}

func checkListRecordings(v *violations, r *domtapv1.ListRecordingsRequest) {
	checkScope(v, r.GetTabId(), r.GetSessionId())
}

// checkScope checks the names of a tab and a session. At most one of them may be set.
func checkScope(v *violations, tab, session string) {
	v.want(len(tab) <= maxID, "tab_id", "must have at most 200 bytes")
	checkSessionID(v, session)
	v.want(tab == "" || session == "", "session_id", "must not be set together with tab_id")
}

func checkSeek(v *violations, r *domtapv1.SeekRequest) {
	if v.want(r.GetAt().GetWhen() != nil, "at", "is required: a time, an offset or a revision") {
		checkMoment(v, r.GetAt())
	}
	_, byRevision := r.GetAt().GetWhen().(*domtapv1.Moment_Revision)
	v.want(!byRevision || r.GetTabId() != "", "tab_id", "is required with a revision")
}

// checkMoment checks an optional moment of a recording.
func checkMoment(v *violations, at *domtapv1.Moment) {
	if at == nil {
		return
	}
	switch when := at.GetWhen().(type) {
	case *domtapv1.Moment_Time:
		v.want(when.Time.CheckValid() == nil, "at.time", "must be a valid time")
	case *domtapv1.Moment_Offset:
		v.want(within(when.Offset, 0, maxOffset), "at.offset", "must be 0 to 10 years")
	case nil:
		v.want(false, "at", "must have a time, an offset or a revision")
	}
	v.want(len(at.GetEpoch()) <= maxID, "at.epoch", "must have at most 200 bytes")
}

// checkAt wraps the checker of a request that may name a moment of a recording. It also checks the moment.
func checkAt[M interface{ GetAt() *domtapv1.Moment }](also func(*violations, M)) func(*violations, M) {
	return func(v *violations, r M) {
		also(v, r)
		checkMoment(v, r.GetAt())
	}
}

// within reports whether a duration is valid and in a range.
func within(d *durationpb.Duration, least, most time.Duration) bool {
	return d.CheckValid() == nil && least <= d.AsDuration() && d.AsDuration() <= most
}
