// Package har writes HTTP archives (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), the format in which browsers and
// proxies exchange the requests of a page.
//
// It knows no browser and no log: the caller fills in an Archive, and Marshal completes what the format requires, in plain
// values. An archive is made to be passed on, so Marshal replaces what is secret by its nature: the values of cookies and of the
// headers that IsSecretHeader names, user names and passwords in URLs, and the values of parameters that IsSecretParameter names.
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
	// Creator and Browser name the programs, with their versions; an empty Browser is left out.
	Creator, Browser Software
	// Pages are the documents that the entries belong to, in the order in which they were loaded.
	Pages []Page
	// Entries are the requests. Marshal sorts them by their start.
	Entries []Entry
	// Comment says what the reader should know, such as that older requests are missing.
	Comment string
}

// Software is a program.
type Software struct{ Name, Version string }

// Page is a document.
type Page struct {
	ID, Title string
	Started   time.Time
	// DOMContentLoaded and Load are from Started on; 0: not known.
	DOMContentLoaded, Load time.Duration
}

// Entry is a request and its answer. Of a request that was redirected, each step is an entry.
type Entry struct {
	// Page is the ID of a Page; empty: none.
	Page    string
	Started time.Time
	// Took is from the request to the end of the answer; 0: under way, or not known.
	Took time.Duration
	// Timing says what took how long; the zero value: not known, then Took is all waiting.
	Timing   Timing
	Request  Request
	Response Response
	// Server is the IP address that answered; empty: not known.
	Server string
	// Resource is the browser's kind of the request, such as "fetch".
	Resource string
	// Failed says why there is no answer, such as "net::ERR_CONNECTION_REFUSED".
	Failed string
}

// Timing is how long each part of a request took; negative: it did not happen, or is not known. SSL is part of Connect.
type Timing struct {
	Blocked, DNS, Connect, SSL, Send, Wait, Receive time.Duration
}

// Header is a header, or a parameter of a query.
type Header struct{ Name, Value string }

// Request is what was sent.
type Request struct {
	Method, URL string
	// Protocol is such as "HTTP/1.1" or "h2"; empty: not known.
	Protocol string
	Headers  []Header
	// Body is nil when it is not known or there was none; Size is its size in bytes, negative when that is not known.
	Body []byte
	Size int64
}

// Response is what was answered. The zero value is no answer.
type Response struct {
	// Status is the HTTP status; 0: there was no answer.
	Status     int
	StatusText string
	Protocol   string
	Headers    []Header
	// Type is the media type of the body.
	Type string
	// Body is nil when it is not known. Size is its size in bytes, decoded; negative: not known.
	Body []byte
	Size int64
	// Transferred is how many bytes came, headers included; negative: not known.
	Transferred int64
	// NoBody says why the body is left out.
	NoBody string
}

// Marshal writes an archive as JSON. Its size grows with the bodies: callers bound them.
func Marshal(a Archive) ([]byte, error) {
	entries := slices.Clone(a.Entries)
	slices.SortStableFunc(entries, func(x, y Entry) int { return x.Started.Compare(y.Started) })
	out := file{Log: log{Version: Version, Creator: software(a.Creator), Pages: []page{}, Entries: []entry{}, Comment: a.Comment}}
	if a.Browser != (Software{}) {
		out.Log.Browser = &software{a.Browser.Name, a.Browser.Version}
	}
	for _, p := range a.Pages {
		out.Log.Pages = append(out.Log.Pages, page{StartedDateTime: stamp(p.Started), ID: p.ID, Title: p.Title,
			PageTimings: pageTimings{orUnknown(p.DOMContentLoaded), orUnknown(p.Load)}})
	}
	for _, e := range entries {
		out.Log.Entries = append(out.Log.Entries, written(e))
	}
	return json.Marshal(out)
}

// written converts one entry.
func written(e Entry) entry {
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

// contentOf converts a body: text as it is, and everything else in base64.
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
		c.MimeType = "x-unknown" // the format requires one, and this is what browsers write
	}
	return c
}

// timingsOf has the parts of a request, so that they add up to its time. The format requires send, wait and receive.
func timingsOf(e Entry) timings {
	t := e.Timing
	if t == (Timing{}) {
		return timings{Blocked: -1, DNS: -1, Connect: -1, SSL: -1, Wait: millis(e.Took)}
	}
	return timings{Blocked: millis(t.Blocked), DNS: millis(t.DNS), Connect: millis(t.Connect), SSL: millis(t.SSL),
		Send: millis(max(t.Send, 0)), Wait: millis(max(t.Wait, 0)), Receive: millis(max(t.Receive, 0))}
}

// millis are milliseconds; -1 for what is not known.
func millis(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return float64(d.Microseconds()) / 1000
}

// orUnknown are milliseconds; -1 for 0.
func orUnknown(d time.Duration) float64 {
	if d <= 0 {
		return -1
	}
	return millis(d)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
