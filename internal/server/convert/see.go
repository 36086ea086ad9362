package convert

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Paper returns the width and the height of a sheet in inches.
func Paper(format domtapv1.PaperFormat) (width, height float64) {
	switch format {
	case domtapv1.PaperFormat_PAPER_FORMAT_LETTER:
		return 8.5, 11
	case domtapv1.PaperFormat_PAPER_FORMAT_LEGAL:
		return 8.5, 14
	case domtapv1.PaperFormat_PAPER_FORMAT_A3:
		return 11.69, 16.54
	case domtapv1.PaperFormat_PAPER_FORMAT_A5:
		return 5.83, 8.27
	}
	return 8.27, 11.69
}

var logKinds = map[domtapv1.LogKind]pagelog.Kind{
	domtapv1.LogKind_LOG_KIND_CONSOLE: pagelog.Console,
	domtapv1.LogKind_LOG_KIND_ERROR:   pagelog.Failure,
	domtapv1.LogKind_LOG_KIND_NETWORK: pagelog.Network,
}

var kindsOfLog = map[pagelog.Kind]domtapv1.LogKind{
	pagelog.Console: domtapv1.LogKind_LOG_KIND_CONSOLE,
	pagelog.Failure: domtapv1.LogKind_LOG_KIND_ERROR,
	pagelog.Network: domtapv1.LogKind_LOG_KIND_NETWORK,
}

// LogKinds converts the kinds of a request. It returns nil for all kinds.
func LogKinds(kinds []domtapv1.LogKind) []pagelog.Kind {
	var out []pagelog.Kind
	for _, k := range kinds {
		if kind, known := logKinds[k]; known {
			out = append(out, kind)
		} else {
			return nil // unspecified selects all kinds
		}
	}
	return out
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
