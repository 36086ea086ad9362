package render

import (
	"fmt"
	"strings"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Log returns the entries of a log, one per line, and how to read on.
func Log(r *domtapv1.ReadLogResponse, last bool) string {
	var b strings.Builder
	if n := r.GetDropped(); n > 0 {
		fmt.Fprintf(&b, "-- %d earlier entries are not shown\n", n)
	}
	for _, e := range r.GetEntries() {
		b.WriteString(logLine(e) + "\n")
	}
	if last {
		fmt.Fprintf(&b, "-- continue with --after %d\n", r.GetNextSequence())
	}
	return b.String()
}

func logLine(e *domtapv1.LogEntry) string {
	at := Clock(e.GetAt().AsTime())
	if e.GetKind() == domtapv1.LogKind_LOG_KIND_NETWORK {
		return Line(strings.Join([]string{at, fmt.Sprintf("#%d", e.GetRequestId()), e.GetLevel(), ended(e), e.GetResourceType(), e.GetUrl()}, " "))
	}
	line := at + " " + e.GetLevel() + ": " + e.GetText()
	if e.GetKind() == domtapv1.LogKind_LOG_KIND_ERROR {
		line = at + " uncaught: " + e.GetText()
	}
	if e.GetUrl() != "" {
		line += fmt.Sprintf(" (%s:%d)", e.GetUrl(), e.GetLine())
	}
	return Line(line)
}

// ended describes the outcome of a request.
func ended(e *domtapv1.LogEntry) string {
	took := time.Duration(e.GetDurationMs() * float64(time.Millisecond)).Round(time.Millisecond)
	switch {
	case e.GetFailure() != "":
		return e.GetFailure()
	case e.GetDurationMs() == 0:
		return "…"
	}
	return fmt.Sprintf("%d %v %dB", e.GetHttpStatus(), took, e.GetBytes())
}

// Batch returns the results of a batch, each under its URL.
func Batch(r *domtapv1.BatchResponse) string {
	var b strings.Builder
	for i, one := range r.GetResults() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("==> " + Line(one.GetUrl()))
		if final := one.GetFinalUrl(); final != "" && final != one.GetUrl() {
			b.WriteString(" → " + Line(final))
		}
		if status := one.GetHttpStatus(); status != 0 {
			fmt.Fprintf(&b, " (%d)", status)
		}
		b.WriteByte('\n')
		switch {
		case one.GetError() != "":
			b.WriteString("error: " + Line(one.GetError()) + "\n")
		case one.GetResultJson() != "":
			b.WriteString(Result(one.GetResultJson()))
		default:
			b.WriteString(Paragraph(one.GetText()))
		}
		if one.GetTruncated() {
			b.WriteString("-- truncated; open the page in a tab to read the rest\n")
		}
	}
	return b.String()
}
