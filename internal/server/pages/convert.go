package pages

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/markdown"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/telemetry/har"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// requestMessage converts a request and its details, without secrets.
func requestMessage(r pagelog.Requested) *domtapv1.GetRequestResponse {
	d, entry := r.Detail, r.Entry
	entry.URL = har.URL(entry.URL)
	return &domtapv1.GetRequestResponse{
		Entry: messages.LogEntry(&entry), Url: har.URL(d.URL), RequestHeaders: shownHeaders(d.RequestHeaders), ResponseHeaders: shownHeaders(d.ResponseHeaders),
		StatusText: d.StatusText, Protocol: d.Protocol, MimeType: d.MimeType, RemoteAddress: d.RemoteAddress, Timing: requestTiming(d.Timing), FromCache: d.FromCache,
	}
}

func shownHeaders(all []pagelog.Header) (out []*domtapv1.Header) {
	for _, h := range all {
		out = append(out, &domtapv1.Header{Name: h.Name, Value: har.Value(h.Name, h.Value)})
	}
	return out
}

func requestTiming(t *pagelog.Timing) *domtapv1.RequestTiming {
	if t == nil {
		return nil
	}
	known := func(d time.Duration) *float64 {
		if d < 0 {
			return nil
		}
		ms := float64(d.Microseconds()) / 1000
		return &ms
	}
	return &domtapv1.RequestTiming{BlockedMs: known(t.Blocked), DnsMs: known(t.DNS), ConnectMs: known(t.Connect), SslMs: known(t.SSL),
		SendMs: known(t.Send), WaitMs: known(t.Wait), ReceiveMs: known(t.Receive)}
}

// harEntry converts a request of a page to an entry of an archive. The archive removes secrets itself.
func harEntry(r pagelog.Requested, page string) har.Entry {
	e := har.Entry{Page: page, Started: r.At, Took: r.Took, Resource: r.Resource, Failed: r.Failed,
		Request:  har.Request{Method: r.Level, URL: r.URL, Size: -1},
		Response: har.Response{Status: r.Status, Transferred: r.Bytes}}
	d := r.Detail
	if d == nil {
		return e
	}
	e.Server, e.Request.URL, e.Request.Protocol, e.Request.Headers = d.RemoteAddress, d.URL, d.Protocol, harHeaders(d.RequestHeaders)
	e.Response.StatusText, e.Response.Protocol, e.Response.Type, e.Response.Headers = d.StatusText, d.Protocol, d.MimeType, harHeaders(d.ResponseHeaders)
	if t := d.Timing; t != nil && r.Took > 0 {
		e.Timing = har.Timing(*t)
	}
	return e
}

func harHeaders(all []pagelog.Header) (out []har.Header) {
	for _, h := range all {
		out = append(out, har.Header(h))
	}
	return out
}

// paperOf returns the width and the height of a sheet in inches.
func paperOf(format domtapv1.PaperFormat) (width, height float64) {
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

// logKindsOf converts the kinds of a request. It returns nil for all kinds.
func logKindsOf(kinds []domtapv1.LogKind) []pagelog.Kind {
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

// maxOutline limits the headings of an outline.
const maxOutline = 200

// outlineOf converts the first headings of a document. cursor returns the cursor of a block.
func outlineOf(headings []markdown.Heading, cursor func(block int) string) []*domtapv1.ReadHeading {
	out := make([]*domtapv1.ReadHeading, 0, min(len(headings), maxOutline))
	for _, h := range headings[:min(len(headings), maxOutline)] {
		out = append(out, &domtapv1.ReadHeading{Level: int32(h.Level), Text: h.Text, Cursor: cursor(h.Block)})
	}
	return out
}
