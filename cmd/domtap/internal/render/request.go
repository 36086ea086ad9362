package render

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Request returns the text of a request. body also requests the body.
func Request(r *domtapv1.GetRequestResponse, body bool) string {
	var b strings.Builder
	e := r.GetEntry()
	b.WriteString(Line(fmt.Sprintf("%s %s", e.GetLevel(), r.GetUrl())) + "\n")
	result := "no answer yet"
	switch {
	case e.GetFailure() != "":
		result = e.GetFailure()
	case e.GetHttpStatus() > 0:
		result = strings.TrimSpace(fmt.Sprintf("%d %s", e.GetHttpStatus(), r.GetStatusText()))
	}
	facts := []string{result, e.GetResourceType(), r.GetMimeType(), r.GetProtocol(), r.GetRemoteAddress()}
	if r.GetFromCache() {
		facts = append(facts, "from a cache")
	}
	if e.GetBytes() > 0 {
		facts = append(facts, plural.Of(e.GetBytes(), "byte"))
	}
	b.WriteString(Line(joinWords(facts, ", ")) + "\n")
	b.WriteString(timing(e, r.GetTiming()))
	b.WriteString(headerLines("> ", r.GetRequestHeaders()))
	b.WriteString(headerLines("< ", r.GetResponseHeaders()))
	if body {
		b.WriteString(bodyText(r))
	}
	return b.String()
}

// timing returns the line with the phases that took time. It is empty while the request is in progress.
func timing(e *domtapv1.LogEntry, t *domtapv1.RequestTiming) string {
	if e.GetDurationMs() == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("took %v", milliseconds(e.GetDurationMs()))}
	if t != nil {
		for _, part := range []struct {
			name string
			ms   *float64
		}{{"blocked", t.BlockedMs}, {"dns", t.DnsMs}, {"connect", t.ConnectMs}, {"ssl", t.SslMs}, {"send", t.SendMs}, {"wait", t.WaitMs}, {"receive", t.ReceiveMs}} {
			if part.ms != nil {
				parts = append(parts, fmt.Sprintf("%s %v", part.name, milliseconds(*part.ms)))
			}
		}
	}
	return strings.Join(parts, ", ") + "\n"
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond)
}

func headerLines(mark string, all []*domtapv1.Header) string {
	var b strings.Builder
	for _, h := range all {
		b.WriteString(Line(mark+h.GetName()+": "+h.GetValue()) + "\n")
	}
	return b.String()
}

// bodyText returns a body as text, or a description if it is not text.
func bodyText(r *domtapv1.GetRequestResponse) string {
	body := r.GetBody()
	switch {
	case r.GetBodyMissing() != "":
		return "\n-- no body: " + Line(r.GetBodyMissing()) + "\n"
	case !isText(body, r.GetBodyTruncated()):
		return fmt.Sprintf("\n-- not text, %s; save it with --save FILE\n", plural.Of(r.GetBodySize(), "byte"))
	case r.GetBodyTruncated():
		return "\n" + Paragraph(string(body)) + fmt.Sprintf("-- truncated: %d of %d bytes; raise --max-bytes\n", len(body), r.GetBodySize())
	}
	return "\n" + Paragraph(string(body))
}

// isText reports whether a body is text. If cut is set, the body may end within a character.
func isText(body []byte, cut bool) bool {
	for i := 0; cut && i < utf8.UTFMax && len(body) > 0 && !utf8.Valid(body); i++ {
		body = body[:len(body)-1]
	}
	return utf8.Valid(body) && !strings.ContainsRune(string(body), 0)
}

func joinWords(words []string, between string) string {
	var some []string
	for _, w := range words {
		if w != "" {
			some = append(some, w)
		}
	}
	return strings.Join(some, between)
}

// Archive describes the contents of an archive.
func Archive(r *domtapv1.ExportHarResponse) string {
	text := plural.Of(r.GetRequests(), "request")
	if n := r.GetBodies(); n > 0 {
		text += ", " + plural.Of(n, "body")
	}
	if n := r.GetBodiesMissing(); n > 0 {
		text += "; missing: " + plural.Of(n, "body") + " (the archive contains the reasons)"
	}
	if n := r.GetDropped(); n > 0 {
		text += fmt.Sprintf("; %d earlier requests are not included", n)
	}
	return text
}

// Video describes the contents of a recording.
func Video(r *domtapv1.RecordVideoResponse) string {
	text := fmt.Sprintf("%s in %v", plural.Of(r.GetFrames(), "frame"), r.GetAt().AsDuration().Round(100*time.Millisecond))
	if r.GetTruncated() {
		text += "; the recording ended early because the file is full; reduce --fps or --width"
	}
	return text + "\n"
}
