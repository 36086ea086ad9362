package messages

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

var kindsOfLog = map[pagelog.Kind]domtapv1.LogKind{
	pagelog.Console: domtapv1.LogKind_LOG_KIND_CONSOLE,
	pagelog.Failure: domtapv1.LogKind_LOG_KIND_ERROR,
	pagelog.Network: domtapv1.LogKind_LOG_KIND_NETWORK,
}

// Log converts entries of a log.
func Log(a pagelog.Answer) *domtapv1.ReadLogResponse {
	resp := &domtapv1.ReadLogResponse{NextSequence: a.Next, Dropped: a.Dropped}
	for i := range a.Entries {
		resp.Entries = append(resp.Entries, LogEntry(&a.Entries[i]))
	}
	return resp
}

// LogEntry converts an entry of a log.
func LogEntry(e *pagelog.Entry) *domtapv1.LogEntry {
	return &domtapv1.LogEntry{
		Sequence: e.Sequence, Kind: kindsOfLog[e.Kind], At: timestamppb.New(e.At), Level: e.Level, Text: e.Text, Url: e.URL,
		Line: int32(e.Line), HttpStatus: int32(e.Status), ResourceType: e.Resource, Failure: e.Failed,
		DurationMs: float64(e.Took) / float64(time.Millisecond), Bytes: e.Bytes, RequestId: e.Request,
	}
}
