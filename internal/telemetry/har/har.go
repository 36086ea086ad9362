// Package har writes HTTP archives (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), the format that browsers and proxies use to
// exchange the requests of a page.
//
// The package depends on no browser and no log. The caller fills in an Archive with plain values, and Marshal adds the fields that the
// format requires. Archives are meant to be shared, so Marshal replaces secrets: the values of cookies and of headers for which
// IsSecretHeader returns true, user names and passwords in URLs, and the values of parameters for which IsSecretParameter returns true.
package har

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"
)

// Version is the version of the format.
const Version = "1.2"

// Archive is the content of a file.
type Archive struct {
	// Creator and Browser are programs with their versions. An empty Browser is omitted.
	Creator, Browser Software
	// Pages lists the documents of the entries, in the order in which they were loaded.
	Pages []Page
	// Entries lists the requests. Marshal sorts them by start time.
	Entries []Entry
	// Comment is a note for the reader, for example that older requests are missing.
	Comment string
}

// Software is a program.
type Software struct{ Name, Version string }

// Page is a document.
type Page struct {
	ID, Title string
	Started   time.Time
	// DOMContentLoaded and Load are relative to Started. Zero means unknown.
	DOMContentLoaded, Load time.Duration
}

// Entry is a request and its response. Each step of a redirected request is a separate entry.
type Entry struct {
	// Page is the ID of a Page, or empty.
	Page    string
	Started time.Time
	// Took is the time from the request to the end of the response. Zero means in progress or unknown.
	Took time.Duration
	// Timing holds the durations of the request's parts. If it is the zero value, the parts are unknown and Took counts as waiting.
	Timing   Timing
	Request  Request
	Response Response
	// Server is the IP address of the server. It is empty if unknown.
	Server string
	// Resource is the browser's kind of the request, such as "fetch".
	Resource string
	// Failed is the reason for a missing response, such as "net::ERR_CONNECTION_REFUSED".
	Failed string
}

// Timing holds the durations of the parts of a request. A negative value means that the part did not happen or is unknown. SSL is included
// in Connect.
type Timing struct {
	Blocked, DNS, Connect, SSL, Send, Wait, Receive time.Duration
}

// Header is a header or a query parameter.
type Header struct{ Name, Value string }

// Request is the request that was sent.
type Request struct {
	Method, URL string
	// Protocol is a value such as "HTTP/1.1" or "h2". It is empty if unknown.
	Protocol string
	Headers  []Header
	// Body is nil if it is unknown or there was none. Size is its size in bytes, or negative if unknown.
	Body []byte
	Size int64
}

// Response is the response to a request. The zero value means that there was none.
type Response struct {
	// Status is the HTTP status, or 0 without a response.
	Status     int
	StatusText string
	Protocol   string
	Headers    []Header
	// Type is the media type of the body.
	Type string
	// Body is nil if unknown. Size is the decoded size of the body in bytes, or negative if unknown.
	Body []byte
	Size int64
	// Transferred is the number of received bytes, including headers. A negative value means unknown.
	Transferred int64
	// NoBody is the reason why the body is omitted.
	NoBody string
}

// Marshal returns an archive as JSON. The size is proportional to the bodies, so callers must bound them.
func Marshal(a Archive) ([]byte, error) {
	entries := slices.Clone(a.Entries)
	slices.SortStableFunc(entries, func(x, y Entry) int { return x.Started.Compare(y.Started) })
	out := file{Log: log{Version: Version, Creator: software(a.Creator), Pages: []page{}, Entries: []entry{}, Comment: a.Comment}}
	if a.Browser != (Software{}) {
		out.Log.Browser = &software{a.Browser.Name, a.Browser.Version}
	}
	for _, p := range a.Pages {
		out.Log.Pages = append(out.Log.Pages, page{StartedDateTime: stamp(p.Started), ID: p.ID, Title: p.Title,
			PageTimings: pageTimings{millisOrUnknown(p.DOMContentLoaded), millisOrUnknown(p.Load)}})
	}
	for _, e := range entries {
		out.Log.Entries = append(out.Log.Entries, toEntry(e))
	}
	return json.Marshal(out)
}

// toEntry converts one entry.
func toEntry(e Entry) entry {
	address := URL(e.Request.URL)
	times := timingsOf(e)
	sent := request{Method: e.Request.Method, URL: address, HTTPVersion: e.Request.Protocol, Cookies: cookies(e.Request.Headers, "cookie"),
		Headers: headers(e.Request.Headers), QueryString: query(address), HeadersSize: -1, BodySize: e.Request.Size}
	if len(e.Request.Body) > 0 {
		text := string(e.Request.Body)
		if !utf8.Valid(e.Request.Body) {
			text = ""
		}
		sent.PostData = &postData{MimeType: find(e.Request.Headers, "content-type"), Params: []param{}, Text: text}
	}
	got := e.Response
	answer := response{Status: got.Status, StatusText: got.StatusText, HTTPVersion: got.Protocol, Cookies: cookies(got.Headers, "set-cookie"),
		Headers: headers(got.Headers), Content: contentOf(got), RedirectURL: URL(find(got.Headers, "location")), HeadersSize: -1, BodySize: -1,
		TransferSize: got.Transferred, Error: e.Failed}
	return entry{PageRef: e.Page, StartedDateTime: stamp(e.Started), Time: times.total(), Request: sent, Response: answer, Timings: times,
		ServerIPAddress: e.Server, ResourceType: e.Resource}
}

// contentOf converts a body. Text is kept as text; other data becomes base64.
func contentOf(r Response) content {
	c := content{Size: max(r.Size, 0), MimeType: r.Type, Comment: r.NoBody}
	switch {
	case r.Body == nil:
	case utf8.Valid(r.Body):
		c.Size, c.Text = int64(len(r.Body)), string(r.Body)
	default:
		c.Size, c.Text, c.Encoding = int64(len(r.Body)), base64.StdEncoding.EncodeToString(r.Body), "base64"
	}
	if c.MimeType == "" {
		c.MimeType = "x-unknown" // the format requires a type, and browsers write this one
	}
	return c
}

// timingsOf returns the parts of a request, adjusted so that their sum is the request's total time. The format requires send, wait and
// receive.
func timingsOf(e Entry) timings {
	t := e.Timing
	if t == (Timing{}) {
		return timings{Blocked: -1, DNS: -1, Connect: -1, SSL: -1, Wait: millis(e.Took)}
	}
	return timings{Blocked: millis(t.Blocked), DNS: millis(t.DNS), Connect: millis(t.Connect), SSL: millis(t.SSL),
		Send: millis(max(t.Send, 0)), Wait: millis(max(t.Wait, 0)), Receive: millis(max(t.Receive, 0))}
}

// millis returns a duration in milliseconds, or -1 for an unknown duration.
func millis(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return float64(d.Microseconds()) / 1000
}

// millisOrUnknown returns a duration in milliseconds, or -1 for 0.
func millisOrUnknown(d time.Duration) float64 {
	if d <= 0 {
		return -1
	}
	return millis(d)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
