package pagelog

import (
	"slices"
	"time"
)

// Source provides the details of a request on demand. It is immutable: new information about the request creates a new Source.
type Source interface {
	Detail() Detail
	// Size returns the approximate number of bytes that the Source keeps alive.
	Size() int
}

// Detail contains what the browser reported about a request beyond its log line. Its texts are untrusted, and their source bounds them.
// Secrets in them are not masked.
type Detail struct {
	// ID is the browser's id of the request. It identifies the body.
	ID string
	// Document reports that the request loads the main document of the tab.
	Document bool
	// URL is at most 2,000 characters plus "…".
	URL                             string
	RequestHeaders, ResponseHeaders []Header
	StatusText, Protocol, MimeType  string
	RemoteAddress                   string
	FromCache                       bool
	// Timing is nil if the browser did not measure it.
	Timing *Timing
}

// Header is a header of a request or of its response.
type Header struct{ Name, Value string }

// Timing holds the durations of the parts of a request. A negative value means that the part did not happen.
type Timing struct {
	Blocked, DNS, Connect, SSL, Send, Wait, Receive time.Duration
}

// MaxDetailURL limits the characters of the URL of a Detail.
const MaxDetailURL = 2000

// LongURL is like URL with the limit of a Detail.
func LongURL(s string) string {
	if isData(s) {
		return URL(s)
	}
	return clip(mask(head(s, MaxDetailURL)), MaxDetailURL)
}

// maxDetails limits the bytes of the details that a log keeps. Details of the oldest requests are dropped first; their lines stay.
const maxDetails = 512 << 10

// details holds the requests with details, in the order in which they began.
type details struct {
	items []*item
	bytes int
}

// add adds a request.
func (d *details) add(it *item) {
	if it.request.Source == nil {
		return
	}
	d.items = append(d.items, it)
	d.resize(0, it.request.Source.Size()+overhead)
}

// changed updates the total after the source of a request has changed. before is its earlier size.
func (d *details) changed(it *item, before int) {
	if it.request.Source != nil && before > 0 {
		d.resize(before, it.request.Source.Size()+overhead)
	}
}

// resize drops the oldest details until the rest is within the limit. It keeps the newest ones.
func (d *details) resize(before, now int) {
	d.bytes += now - before
	for len(d.items) > 0 && (d.bytes > maxDetails && len(d.items) > 1 || d.items[0].request.Source == nil) {
		d.drop(d.items[0])
		d.items[0] = nil
		d.items = d.items[1:]
	}
}

// drop drops the details of a request.
func (d *details) drop(it *item) {
	if it.request != nil && it.request.Source != nil {
		d.bytes -= it.request.Source.Size() + overhead
		it.request.Source = nil
	}
}

// Requested is a request with its details. Detail is nil if the details were dropped.
type Requested struct {
	Entry
	Detail *Detail
}

// Request returns the request with an id, Entry.Request. ok is false if the log does not contain it.
func (l *Log) Request(id uint64) (r Requested, ok bool) {
	for _, one := range l.find(func(it *item) bool { return it.request.Request == id }) {
		return one.requested(), true
	}
	return r, false
}

// Requests returns all requests in the log, in the order in which they began, and the number of dropped requests.
func (l *Log) Requests() (all []Requested, dropped uint64) {
	for _, one := range l.find(func(*item) bool { return true }) {
		all = append(all, one.requested())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return all, l.rings[Network].evicted
}

// RequestsSince returns the requests that began after the entry with a sequence number, in the order in which they began.
func (l *Log) RequestsSince(after uint64) (all []Entry) {
	for _, one := range l.find(func(it *item) bool { return it.request.Request > after }) {
		all = append(all, one.entry())
	}
	return all
}

// find copies the matching requests, in the order in which they began. It does not mark them as read.
func (l *Log) find(match func(*item) bool) (found []itemCopy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.rings[Network].items {
		if it.request != nil && match(it) {
			found = append(found, itemCopy{sequence: it.sequence, kind: Network, at: it.at, request: *it.request})
		}
	}
	slices.SortFunc(found, func(a, b itemCopy) int { return int(int64(a.request.Request) - int64(b.request.Request)) })
	return found
}

// requested returns the request with its details. It must be called without the lock, because a page can make this slow.
func (f *itemCopy) requested() Requested {
	r := Requested{Entry: f.entry()}
	if source := f.request.Source; source != nil {
		detail := source.Detail()
		r.Detail = &detail
	}
	r.Source = nil
	return r
}
