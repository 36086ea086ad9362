package console

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// responseDetail holds the parts of a response that only details show.
type responseDetail struct {
	StatusText    string       `json:"statusText"`
	MimeType      string       `json:"mimeType"`
	Protocol      string       `json:"protocol"`
	RemoteAddress string       `json:"remoteIPAddress"`
	DiskCache     bool         `json:"fromDiskCache"`
	Worker        bool         `json:"fromServiceWorker"`
	Prefetched    bool         `json:"fromPrefetchCache"`
	Timing        jsonv2.Value `json:"timing"`
}

// exchange is a request and its response, partly undecoded; see pagelog.Source.
type exchange struct {
	id, url string
	main    bool
	// start and end are times of the browser's clock. Zero means unknown.
	start, end time.Duration
	// sent and got are the request and response headers as JSON.
	sent, got []byte
	responseDetail
}

// maxHeaders limits the headers of a request or response, in bytes of JSON. Longer headers are dropped.
const maxHeaders = 32 << 10

// begun returns the source of a new request.
func (r *Recorder) begun(e *event) pagelog.Source {
	return &exchange{id: e.RequestID, url: pagelog.LongURL(e.Request.URL), start: e.clock(), sent: kept(e.Request.Headers),
		main: r.main != "" && e.FrameID == r.main && e.RequestID == e.LoaderID}
}

// kept copies headers, so that the event can be freed.
func kept(headers []byte) []byte {
	if len(headers) > maxHeaders {
		return nil
	}
	return bytes.Clone(headers)
}

// with returns a copy of the exchange with a response.
func (x *exchange) with(r *response) *exchange {
	next := *x
	next.got, next.responseDetail = kept(r.Headers), r.responseDetail
	next.StatusText, next.MimeType = phrase(r.StatusText), phrase(r.MimeType)
	next.Protocol, next.RemoteAddress = word(r.Protocol), word(r.RemoteAddress)
	next.Timing = nil
	if len(r.Timing) < 4<<10 {
		next.Timing = bytes.Clone(r.Timing)
	}
	return &next
}

// ended returns a copy of the exchange with the time when its response ended.
func (x *exchange) ended(at time.Duration) *exchange {
	next := *x
	next.end = at
	return &next
}

// phrase shortens a text that should be a few words.
func phrase(s string) string { return pagelog.URL(s[:min(len(s), 100)]) }

// Size implements pagelog.Source.
func (x *exchange) Size() int {
	return 256 + len(x.id) + len(x.url) + len(x.sent) + len(x.got) + len(x.StatusText) + len(x.MimeType) + len(x.Timing)
}

// Detail implements pagelog.Source.
func (x *exchange) Detail() pagelog.Detail {
	return pagelog.Detail{ID: x.id, Document: x.main, URL: x.url, RequestHeaders: headers(x.sent), ResponseHeaders: headers(x.got), StatusText: x.StatusText,
		Protocol: x.Protocol, MimeType: x.MimeType, RemoteAddress: x.RemoteAddress, FromCache: x.DiskCache || x.Worker || x.Prefetched, Timing: x.timing()}
}

// maxHeaderCount limits how many headers are shown.
const maxHeaderCount = 200

// headers decodes headers and sorts them by name. The browser joins the values of one name with line breaks.
func headers(text []byte) (all []pagelog.Header) {
	if len(text) == 0 {
		return nil
	}
	var values map[string]string
	if decode(text, &values) != nil {
		return nil
	}
	for name := range values {
		all = append(all, pagelog.Header{Name: pagelog.Text(name), Value: pagelog.Text(values[name])})
	}
	slices.SortFunc(all, func(a, b pagelog.Header) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return all[:min(len(all), maxHeaderCount)]
}

// resourceTiming is the browser's timing of a request. RequestTime is in seconds of the browser's clock. The other fields are milliseconds
// after it, or -1 if a phase did not occur.
type resourceTiming struct {
	RequestTime       float64 `json:"requestTime"`
	DNSStart          float64 `json:"dnsStart"`
	DNSEnd            float64 `json:"dnsEnd"`
	ConnectStart      float64 `json:"connectStart"`
	ConnectEnd        float64 `json:"connectEnd"`
	SSLStart          float64 `json:"sslStart"`
	SSLEnd            float64 `json:"sslEnd"`
	SendStart         float64 `json:"sendStart"`
	SendEnd           float64 `json:"sendEnd"`
	ReceiveHeadersEnd float64 `json:"receiveHeadersEnd"`
}

// timing returns the duration of each phase, or nil if it is unknown.
func (x *exchange) timing() *pagelog.Timing {
	var t resourceTiming
	if len(x.Timing) == 0 || decode(x.Timing, &t) != nil || !(t.RequestTime > 0) || !(t.SendStart >= 0) || !(t.SendEnd >= t.SendStart) || !(t.ReceiveHeadersEnd >= t.SendEnd) {
		return nil
	}
	first := t.SendStart
	for _, start := range []float64{t.DNSStart, t.ConnectStart} {
		if start >= 0 {
			first = min(first, start)
		}
	}
	out := &pagelog.Timing{Blocked: -1, DNS: between(t.DNSStart, t.DNSEnd), Connect: between(t.ConnectStart, t.ConnectEnd), SSL: between(t.SSLStart, t.SSLEnd),
		Send: between(t.SendStart, t.SendEnd), Wait: between(t.SendEnd, t.ReceiveHeadersEnd)}
	asked := seconds(t.RequestTime)
	if x.start > 0 {
		out.Blocked = max(asked-x.start, 0) + millis(max(first, 0))
	}
	if x.end > 0 {
		out.Receive = max(x.end-asked-millis(t.ReceiveHeadersEnd), 0)
	}
	return out
}

// between returns the duration between two times, or -1 if one is missing.
func between(from, to float64) time.Duration {
	if !(from >= 0) || !(to >= from) {
		return -1
	}
	return millis(to - from)
}

func millis(v float64) time.Duration {
	if !(v > 0) {
		return 0
	}
	return time.Duration(min(v, 1e9) * float64(time.Millisecond))
}

func seconds(v float64) time.Duration { return time.Duration(math.Min(v, 1e9) * float64(time.Second)) }
