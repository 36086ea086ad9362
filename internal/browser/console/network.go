package console

import (
	"errors"
	"math"
	"strings"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// event holds what is read of all events of the network.
type event struct {
	RequestID string `json:"requestId"`
	Request   struct {
		URL     string       `json:"url"`
		Method  string       `json:"method"`
		Headers jsonv2.Value `json:"headers"`
	} `json:"request"`
	LoaderID string `json:"loaderId"`
	FrameID  string `json:"frameId"`
	// URL is that of a web socket.
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
	answered
}

// gated reports whether it is the gate's own answer, in place of a server's: over TLS a gate says nothing, and it lets
// no server say this for it.
func (r *response) gated() bool {
	if r == nil || !strings.HasPrefix(r.URL, "http:") {
		return false
	}
	var says struct {
		Proxy string `json:"Proxy-Status"`
	}
	return decode(r.Headers, &says) == nil && strings.HasPrefix(says.Proxy, "domtap; error=")
}

// clock is the browser's own, which counts seconds from anywhere.
func (e *event) clock() time.Duration {
	if !(e.Timestamp >= 0 && e.Timestamp < 1e9) {
		return 0
	}
	return time.Duration(e.Timestamp * float64(time.Second))
}

// at is when a request began.
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

// count makes an integer of a number that the browser gave.
func count(f float64, most int) int {
	if !(f > 0) {
		return 0
	}
	return int(min(f, float64(most)))
}

// Request is what an event says of a request, for those who count them.
type Request struct {
	ID, Frame, Document string
	// Type is the browser's name of what is asked for; it can be empty, and change with the answer.
	Type string
	// Gated is the URL, when the gate answered in place of its server.
	Gated string
	// Sheet is the URL of a style sheet that is asked for, in the event that begins the request.
	Sheet string
	// Ended says that it is over. An event that says neither is a sign of life.
	Begun, Ended bool
	// Failed says that it got no answer, or that the answer is an HTTP error; the request may go on after that.
	Failed bool
}

// stylesheet is the browser's name of a request for one.
const stylesheet = "Stylesheet"

// OfWorker reports whether a document asks for the script of a worker that it begins. The end of such a request is reported
// to the worker alone.
func (r Request) OfWorker() bool {
	return r.Begun && r.Document == "" && r.Type == "Script"
}

// Network takes an event of the network, and tells what it is about; nothing of one that was too long.
func (r *Recorder) Network(method string, params []byte) (Request, error) {
	var e event
	if len(params) == 0 { // it was too long to be kept
		return Request{}, nil
	}
	if err := decode(params, &e); err != nil {
		return Request{}, err
	}
	if len(e.RequestID) > 100 {
		return Request{}, errors.New("the name of a request is too long")
	}
	r.note(method, &e)
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

func (r *Recorder) note(method string, e *event) {
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
			if s := entry.Status; s == 403 || s == 502 { // those of a gate; the browser does not show every header
				entry.Failed = r.because("", entry.URL)
			}
		})
	case socketAnswered:
		r.log.Update(e.RequestID, e.Response.apply)
	case socketFailed:
		r.log.Update(e.RequestID, func(entry *pagelog.Entry) { entry.Failed = r.because(pagelog.URL(e.Message), entry.URL) })
	case finished:
		r.log.End(e.RequestID, e.clock(), func(entry *pagelog.Entry) {
			entry.Bytes = max(entry.Bytes, int64(count(e.Length, math.MaxInt64/2)))
			if x, ok := entry.Source.(*exchange); ok {
				entry.Source = x.ended(e.clock())
			}
		})
	case failed:
		r.log.End(e.RequestID, e.clock(), func(entry *pagelog.Entry) { entry.Failed = r.because(e.reason(), entry.URL) })
	case socketClosed:
		r.log.End(e.RequestID, e.clock(), nil)
	}
}

// because says why a request failed: what the browser says, unless the gate made no connection.
func (r *Recorder) because(said, url string) string {
	if r.why != nil && !strings.Contains(said, "ERR_ABORTED") && !strings.Contains(said, "(canceled)") {
		if why := r.why(url); why != "" {
			return pagelog.URL(why)
		}
	}
	return said
}

// reason says why a request failed.
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

// word bounds what should be a word.
func word(s string) string { return strings.ToValidUTF8(s[:min(len(s), 40)], "") }
