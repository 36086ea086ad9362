package render

import (
	"fmt"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// fileSize returns a human-readable size.
func fileSize(bytes int64) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// Recordings returns a table of recordings.
func Recordings(all []*domtapv1.Recording) string {
	return table("RECORDING\tTAB\tSESSION\tSTATE\tSTARTED\tSIZE\tFILE", all, func(r *domtapv1.Recording) []string {
		state := lower(r.GetState().String(), "RECORDING_STATE_")
		if r.GetEnd() != domtapv1.RecordingEnd_RECORDING_END_UNSPECIFIED {
			state = lower(r.GetEnd().String(), "RECORDING_END_")
		}
		return []string{
			Line(r.GetRecordingId()), Line(r.GetTabId()), Line(r.GetSessionId()), state, r.GetStarted().AsTime().Local().Format(time.DateTime),
			fileSize(r.GetBytes()), Line(r.GetFile()),
		}
	})
}

// Replay returns a table of the replayed tabs, and lines about missing parts.
func Replay(r *domtapv1.GetReplayResponse) string {
	out := table("TAB\tSTARTED\tLENGTH\tSTATES\tPICTURES\tSIZE\tFILE", r.GetTabs(), func(t *domtapv1.ReplayedTab) []string {
		one := t.GetRecording()
		length := t.GetLast().AsDuration() - t.GetFirst().AsDuration()
		return []string{
			Line(one.GetTabId()), one.GetStarted().AsTime().Local().Format(time.DateTime), length.Round(time.Millisecond).String(), number(one.GetStates()),
			number(one.GetPictures()), fileSize(one.GetBytes()), Line(one.GetFile()),
		}
	})
	for _, t := range r.GetTabs() {
		for _, missing := range t.GetMissing() {
			out += "missing of " + Line(t.GetRecording().GetTabId()) + ": " + Line(missing) + "\n"
		}
	}
	return out
}
