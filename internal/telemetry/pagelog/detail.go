package pagelog

import (
	"slices"
	"time"
)

// Source makes the details of a request when somebody reads them. It is immutable: what is learned later makes another one.
type Source interface {
	Detail() Detail
	// Size is about how many bytes it keeps alive.
	Size() int
}

// Detail is what the browser said of a request beyond its line. Its texts are untrusted and bounded by their source; their secrets are in them.
type Detail struct {
	// ID is the browser's own id of the request, by which the body is found.
	ID string
	// Document says that the request loads the main document of the tab.
	Document bool
	// URL is at most 2,000 characters plus "…".
	URL                             string
	RequestHeaders, ResponseHeaders []Header
	StatusText, Protocol, MimeType  string
	RemoteAddress                   string
	FromCache                       bool
	// Timing is nil when the browser did not measure it.
	Timing *Timing
}

// Header is a header of a request or of its answer.
type Header struct{ Name, Value string }

// Timing says how long the parts of a request took; negative: it did not happen.
type Timing struct {
	Blocked, DNS, Connect, SSL, Send, Wait, Receive time.Duration
}

// MaxDetailURL is how many characters the URL of a Detail has at most.
const MaxDetailURL = 2000

// LongURL is URL with the limit of a Detail.
func LongURL(s string) string {
	if isData(s) {
		return URL(s)
	}
	return clip(mask(head(s, MaxDetailURL)), MaxDetailURL)
}

// maxDetails bounds the details that a log keeps, in bytes. Those of the oldest requests are dropped first, without their lines.
const maxDetails = 512 << 10

// details has the requests whose details are kept, the one that began first in front.
type details struct {
	items []*item
	bytes int
}

// add takes in a request.
func (d *details) add(it *item) {
	if it.request.Source == nil {
		return
	}
	d.items = append(d.items, it)
	d.resize(0, it.request.Source.Size()+overhead)
}

// changed takes in that the source of a request had another size before.
func (d *details) changed(it *item, before int) {
	if it.request.Source != nil && before > 0 {
		d.resize(before, it.request.Source.Size()+overhead)
	}
}

// resize drops the oldest details until the rest is within the limit; the newest ones are kept.
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

// Requested is a request with its details; a nil Detail: they are dropped.
type Requested struct {
	Entry
	Detail *Detail
}

// Request returns the request of an id, Entry.Request; ok is false when the log does not have it.
func (l *Log) Request(id uint64) (r Requested, ok bool) {
	for _, one := range l.find(func(it *item) bool { return it.request.Request == id }) {
		return one.requested(), true
	}
	return r, false
}

// Requests returns all requests that the log has, in the order in which they began, and how many it has dropped.
func (l *Log) Requests() (all []Requested, dropped uint64) {
	found := l.find(func(*item) bool { return true })
	slices.SortFunc(found, func(a, b frozen) int { return int(int64(a.request.Request) - int64(b.request.Request)) })
	for _, one := range found {
		all = append(all, one.requested())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return all, l.rings[Network].evicted
}

// find copies the requests that match. It does not count as reading them.
func (l *Log) find(match func(*item) bool) (found []frozen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.rings[Network].items {
		if it.request != nil && match(it) {
			found = append(found, frozen{sequence: it.sequence, kind: Network, at: it.at, request: *it.request})
		}
	}
	return found
}

// requested makes the details, which a page can make slow, so without the lock.
func (f *frozen) requested() Requested {
	r := Requested{Entry: f.entry()}
	if source := f.request.Source; source != nil {
		detail := source.Detail()
		r.Detail = &detail
	}
	r.Source = nil
	return r
}
