package console

import (
	"errors"
	"math"
	"strings"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// event holds the fields that are read from any network event.
type event struct {
	RequestID string `json:"requestId"`
	Request   struct {
		URL     string       `json:"url"`
		Method  string       `json:"method"`
		Headers jsonv2.Value `json:"headers"`
	} `json:"request"`
	LoaderID string `json:"loaderId"`
	FrameID  string `json:"frameId"`
	// URL is the URL of a WebSocket.
	URL       string    `json:"url"`
	Timestamp float64   `json:"timestamp"`
	WallTime  float64   `json:"wallTime"`
	Type      string    `json:"type"`
	Redirect  *response `json:"redirectResponse"`
	Response  *response `json:"response"`
	Length    float64   `json:"encodedDataLength"`
	Error     string    `json:"errorText"`
	Message   string    `json:"errorMessage"`
	Canceled  bool      `json:"canceled"`
	Blocked   string    `json:"blockedReason"`
	CORS      *struct {
		Status string `json:"corsError"`
	} `json:"corsErrorStatus"`
}

type response struct {
	URL     string       `json:"url"`
	Status  float64      `json:"status"`
	Length  float64      `json:"encodedDataLength"`
	Headers jsonv2.Value `json:"headers"`
	responseDetail
}

// gated reports whether the response comes from the gate instead of a server. Over TLS the gate sends no response of its own, and it
// removes this header from servers' responses.
func (r *response) gated() bool {
	if r == nil || !strings.HasPrefix(r.URL, "http:") {
		return false
	}
	var says struct {
		Proxy string `json:"Proxy-Status"`
	}
	return decode(r.Headers, &says) == nil && strings.HasPrefix(says.Proxy, "domtap; error=")
}

// clock returns the time on the browser's clock, which has an arbitrary origin.
func (e *event) clock() time.Duration {
	if !(e.Timestamp >= 0 && e.Timestamp < 1e9) {
		return 0
	}
	return time.Duration(e.Timestamp * float64(time.Second))
}

// at returns when a request started.
func (e *event) at() time.Time {
	if !(e.WallTime > 0 && e.WallTime < 1e11) {
		return time.Now()
	}
	seconds, rest := math.Modf(e.WallTime)
	return time.Unix(int64(seconds), int64(rest*1e9))
}

func (r *response) apply(e *pagelog.Entry) {
	if r == nil {
		return
	}
	e.Status, e.Bytes = count(r.Status, 999), int64(count(r.Length, math.MaxInt32))
	if x, ok := e.Source.(*exchange); ok {
		e.Source = x.with(r)
	}
}

// count converts a number from the browser to an integer.
func count(f float64, most int) int {
	if !(f > 0) {
		return 0
	}
	return int(min(f, float64(most)))
}

// Request describes a request as far as an event reports it.
type Request struct {
	ID, Frame, Document string
	// Type is the browser's resource type. It may be empty, and it may change with the response.
	Type string
	// Gated is the URL, if the gate responded in place of its server.
	Gated string
	// Sheet is the URL of a requested style sheet. It is set in the event that starts the request.
	Sheet string
	// Begun and Ended report the start and the end of the request. An event with neither shows progress.
	Begun, Ended bool
	// Failed reports that the request got no response or an HTTP error. The request may continue after that.
	Failed bool
}

// stylesheet is the browser's resource type for style sheets.
const stylesheet = "Stylesheet"

// OfWorker reports whether a document requests the script of a new worker. The end of such a request is reported only to the worker.
func (r Request) OfWorker() bool {
	return r.Begun && r.Document == "" && r.Type == "Script"
}

// Network handles a network event and describes its request. The description of an oversized event is empty.
func (r *Recorder) Network(method string, params []byte) (Request, error) {
	var e event
	if len(params) == 0 { // the event was too long to be kept
		return Request{}, nil
	}
	if err := decode(params, &e); err != nil {
		return Request{}, err
	}
	if len(e.RequestID) > 100 {
		return Request{}, errors.New("the name of a request is too long")
	}
	r.observe(method, &e)
	about := Request{
		ID: e.RequestID, Frame: e.FrameID, Document: e.LoaderID, Type: e.Type,
		Begun: method == requested, Ended: method == finished || method == failed,
		Failed: method == failed || method == responded && e.Response != nil && e.Response.Status >= 400,
	}
	if about.Begun && about.Type == stylesheet {
		about.Sheet = e.Request.URL
	}
	if r.why != nil && e.Response.gated() {
		about.Gated = e.Response.URL
	}
	return about, nil
}

func (r *Recorder) observe(method string, e *event) {
	switch method {
	case requested:
		if e.Redirect != nil {
			r.log.End(e.RequestID, e.clock(), e.Redirect.apply)
		}
		r.log.Begin(e.RequestID, e.clock(), pagelog.Entry{At: e.at(), Level: word(e.Request.Method), URL: pagelog.URL(e.Request.URL), Resource: word(strings.ToLower(e.Type)),
			Source: r.begun(e)})
	case socketCreated:
		r.log.Begin(e.RequestID, 0, pagelog.Entry{At: time.Now(), Level: "GET", URL: pagelog.URL(e.URL), Resource: "websocket"})
	case responded:
		r.log.Update(e.RequestID, func(entry *pagelog.Entry) {
			e.Response.apply(entry)
			if e.Type != "" {
				entry.Resource = word(strings.ToLower(e.Type))
			}
			if s := entry.Status; s == 403 || s == 502 { // a gate responds with these codes; the browser does not show every header
				entry.Failed = r.failureReason("", entry.URL)
			}
		})
	case socketAnswered:
		r.log.Update(e.RequestID, e.Response.apply)
	case socketFailed:
		r.log.Update(e.RequestID, func(entry *pagelog.Entry) { entry.Failed = r.failureReason(pagelog.URL(e.Message), entry.URL) })
	case finished:
		r.log.End(e.RequestID, e.clock(), func(entry *pagelog.Entry) {
			entry.Bytes = max(entry.Bytes, int64(count(e.Length, math.MaxInt64/2)))
			if x, ok := entry.Source.(*exchange); ok {
				entry.Source = x.ended(e.clock())
			}
		})
	case failed:
		r.log.End(e.RequestID, e.clock(), func(entry *pagelog.Entry) { entry.Failed = r.failureReason(e.reason(), entry.URL) })
	case socketClosed:
		r.log.End(e.RequestID, e.clock(), nil)
	}
}

// failureReason returns why a request failed: the gate's reason if it refused the connection, otherwise the reported one.
func (r *Recorder) failureReason(reported, url string) string {
	if r.why != nil && !strings.Contains(reported, "ERR_ABORTED") && !strings.Contains(reported, "(canceled)") {
		if why := r.why(url); why != "" {
			return pagelog.URL(why)
		}
	}
	return reported
}

// reason returns the browser's reason for a failed request.
func (e *event) reason() string {
	why := e.Error
	if why == "" {
		why = "failed"
	}
	switch {
	case e.Blocked != "":
		why += " (blocked: " + word(e.Blocked) + ")"
	case e.CORS != nil && e.CORS.Status != "":
		why += " (CORS: " + word(e.CORS.Status) + ")"
	case e.Canceled:
		why += " (canceled)"
	}
	return pagelog.URL(why)
}

// word shortens a text that should be a word.
func word(s string) string { return strings.ToValidUTF8(s[:min(len(s), 40)], "") }
