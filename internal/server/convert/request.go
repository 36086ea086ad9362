package convert

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/har"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Request converts a request and its details, without secrets.
func Request(r pagelog.Requested) *domtapv1.GetRequestResponse {
	d, entry := r.Detail, r.Entry
	entry.URL = har.URL(entry.URL)
	return &domtapv1.GetRequestResponse{
		Entry: LogEntry(&entry), Url: har.URL(d.URL), RequestHeaders: shownHeaders(d.RequestHeaders), ResponseHeaders: shownHeaders(d.ResponseHeaders),
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

// HarEntry converts a request of a page to an entry of an archive. The archive removes secrets itself.
func HarEntry(r pagelog.Requested, page string) har.Entry {
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
