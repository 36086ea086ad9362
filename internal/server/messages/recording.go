package messages

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
)

// RecordingEnd converts the reason why a recording ended.
func RecordingEnd(r recording.Reason) domtapv1.RecordingEnd {
	switch r {
	case recording.ReasonStopped:
		return domtapv1.RecordingEnd_RECORDING_END_STOPPED
	case recording.ReasonTabGone:
		return domtapv1.RecordingEnd_RECORDING_END_TAB_GONE
	case recording.ReasonLimit:
		return domtapv1.RecordingEnd_RECORDING_END_LIMIT
	case recording.ReasonWriteFailed:
		return domtapv1.RecordingEnd_RECORDING_END_WRITE_FAILED
	case recording.ReasonDaemonStopped:
		return domtapv1.RecordingEnd_RECORDING_END_DAEMON_STOPPED
	}
	return domtapv1.RecordingEnd_RECORDING_END_UNSPECIFIED
}

// Recording converts the description of a recording.
func Recording(i recording.Info) *domtapv1.Recording {
	m := &domtapv1.Recording{
		RecordingId: i.ID, TabId: i.Tab, SessionId: i.Session, State: domtapv1.RecordingState_RECORDING_STATE_RECORDING, End: RecordingEnd(i.Reason),
		Detail: i.Detail, Started: timestamppb.New(i.Started), Bytes: i.Bytes, File: i.File, States: i.States, Pictures: i.Pictures,
	}
	if !i.Ended.IsZero() {
		m.State, m.Ended = domtapv1.RecordingState_RECORDING_STATE_ENDED, timestamppb.New(i.Ended)
	}
	return m
}
