// Package pagelog stores the console messages, uncaught errors and requests of a tab's pages.
//
// A Log has one ring for each kind. The rings are bounded in entries and in bytes, so that a flood of one kind has a known memory cost and
// evicts no entry of another kind. The browser's event handlers fill the log, and any goroutine may read it at any time. Reading does not
// involve the page, so it works while the page hangs. Entries are formatted when they are read: a Record creates its entry on demand, so
// that a page that floods its console costs little more than copying its messages.
//
// All methods are safe for concurrent use. They block only for each other.
package pagelog

import (
	"slices"
	"sync"
	"time"
)

// Kind is the kind of an entry.
type Kind uint8

// The kinds.
const (
	// Console is a call of console.log or another console method.
	Console Kind = iota
	// Failure is an uncaught error or an unhandled promise rejection.
	Failure
	// Network is a request and its outcome.
	Network
	kinds
)

// Kinds lists all kinds.
var Kinds = []Kind{Console, Failure, Network}

// Entry is one line of a log. Its texts come from the page. They are untrusted, but bounded and free of control characters other than line
// breaks and tabs.
type Entry struct {
	// Sequence increases by one with every entry of the log, starting at 1.
	Sequence uint64
	Kind     Kind
	At       time.Time
	// Level is log, info, warning, error or debug. For requests it is the method, such as GET.
	Level string
	// Text is at most 2,000 characters plus "…".
	Text string
	// URL is the URL of the script or the request, at most 500 characters plus "…".
	URL string
	// Line is the line in the script, starting at 1. Zero means unknown.
	Line int
	// Status is the HTTP status. Zero means that there is no response yet.
	Status int
	// Resource is the kind of a request, such as "fetch".
	Resource string
	// Failed is the reason why a request failed, such as "net::ERR_CONNECTION_REFUSED".
	Failed string
	// Took is the time from the request to the end of the response. Zero means that the request is in flight.
	Took time.Duration
	// Bytes is the number of received bytes, including headers.
	Bytes int64
	// Request identifies a request while the log contains it. It is the first sequence number of the request.
	Request uint64
	// Source provides the details of a request. It is nil for other entries and when the details were dropped. Only the log and its writers
	// use it.
	Source Source
}

// Problem reports whether an entry is a warning, an error, or a request that failed or had a status of 400 or above.
func (e *Entry) Problem() bool {
	switch e.Kind {
	case Failure:
		return true
	case Network:
		return e.Failed != "" || e.Status >= 400
	}
	return e.Level == "warning" || e.Level == "error"
}

// Record creates an entry when the entry is read. The log fills in Sequence, Kind and At.
type Record interface{ Entry() Entry }

// Limits limits the ring of one kind.
type Limits struct {
	Count, Bytes int
}

// limits holds the limits of each kind. Bytes covers the bytes that a record keeps alive, as passed to Add, plus overhead.
var limits = [kinds]Limits{
	Console: {1000, 512 << 10},
	Failure: {500, 256 << 10},
	Network: {1000, 512 << 10},
}

// overhead is the approximate cost of an item in addition to its record, in bytes.
const overhead = 128

// Log is the log of one tab. The zero value is empty and ready.
type Log struct {
	mu    sync.Mutex
	last  uint64
	rings [kinds]ring
	// pending holds the requests in flight, by the browser's request id. All of them are also in the ring.
	pending map[string]*item
	// moved holds the old sequence numbers of requests that got newer ones, in order; see End.
	moved []uint64
	problems
	// details holds the requests with details.
	details details
}

// item is a record in a ring.
type item struct {
	sequence uint64
	at       time.Time
	size     int
	record   Record
	// id is the browser's request id while the request is in flight.
	id string
	// request is set instead of record for requests.
	request *Entry
	// seen reports that the entry was read while the request was in flight.
	seen bool
	// start is the browser's clock at the start of the request.
	start time.Duration
}

// ring is a bounded list, oldest first.
type ring struct {
	items []*item
	bytes int
	// evicted counts the evicted items. gone is the sequence number of the last of them.
	evicted, gone uint64
}

// Add appends a record that keeps size bytes alive.
func (l *Log) Add(kind Kind, at time.Time, size int, r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(kind, &item{at: at, size: size + overhead, record: r})
	l.problems.notify()
}

// CountDropped counts entries as dropped that were never added because the page floods its log.
func (l *Log) CountDropped(kind Kind, n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last += n
	l.rings[kind].evicted += n
	l.rings[kind].gone = l.last
}

func (l *Log) append(kind Kind, it *item) {
	l.last++
	it.sequence = l.last
	r := &l.rings[kind]
	r.items = append(r.items, it)
	r.bytes += it.size
	most := limits[kind]
	for len(r.items) > most.Count || r.bytes > most.Bytes && len(r.items) > 1 {
		l.evict(r)
	}
}

// evict removes the oldest item of a ring.
func (l *Log) evict(r *ring) {
	old := r.items[0]
	r.items[0] = nil
	r.items = r.items[1:] // append sometimes moves the items and leaves the old array to the garbage collector
	r.bytes -= old.size
	r.evicted++
	r.gone = max(r.gone, old.sequence)
	if l.pending[old.id] == old {
		delete(l.pending, old.id)
	}
	l.details.drop(old)
}

// Begin appends a request in flight. start is the time on the browser's clock; zero means unknown. An earlier request in flight with the
// same id keeps its state.
func (l *Log) Begin(id string, start time.Duration, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = map[string]*item{}
	}
	it := &item{at: e.At, request: &e, id: id, start: start,
		size: overhead + len(id) + len(e.URL) + len(e.Level) + len(e.Resource) + 128}
	l.append(Network, it)
	it.request.Request = it.sequence
	l.details.add(it)
	l.pending[id] = it
}

// Update changes a request in flight. Unknown requests are ignored. The entry's strings must stay within the limits of Entry.
func (l *Log) Update(id string, change func(e *Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it := l.pending[id]; it != nil {
		l.change(it, change)
	}
}

// change changes a request and updates the size of its details.
func (l *Log) change(it *item, change func(e *Entry)) {
	before := 0
	if it.request.Source != nil {
		before = it.request.Source.Size() + overhead
	}
	change(it.request)
	l.details.changed(it, before)
}

// maxMoved limits moved. Beyond this limit, entries that were only moved count as dropped.
const maxMoved = 2000

// End ends a request at a time on the browser's clock. Unknown requests are ignored. A request that was read while in flight moves to the
// end of the log, so that the next read shows its outcome.
func (l *Log) End(id string, at time.Duration, change func(e *Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	it := l.pending[id]
	if it == nil {
		return
	}
	delete(l.pending, id)
	it.id = ""
	if change != nil {
		l.change(it, change)
	}
	if it.start == 0 {
		it.request.Took = max(time.Since(it.at), time.Microsecond)
	} else {
		it.request.Took = max(at-it.start, time.Microsecond)
	}
	l.problems.note(it.request)
	if !it.seen {
		return
	}
	r := &l.rings[Network]
	i, found := slices.BinarySearchFunc(r.items, it.sequence, func(it *item, s uint64) int {
		return int(int64(it.sequence) - int64(s))
	})
	if !found {
		return
	}
	r.items = slices.Delete(r.items, i, i+1)
	r.bytes -= it.size
	l.moved = append(l.moved, it.sequence)
	if len(l.moved) > maxMoved {
		l.moved = slices.Clone(l.moved[maxMoved/2:])
	}
	l.append(Network, it)
}

// Query selects the entries to read.
type Query struct {
	// Kinds selects kinds of entries. If empty, all kinds are selected.
	Kinds []Kind
	// After is a sequence number. Only later entries are read.
	After uint64
	// Max limits the result to the newest entries. Zero means no limit.
	Max int
	// Problems omits entries that are not problems.
	Problems bool
}

// Answer is the result of Read.
type Answer struct {
	// Entries is sorted, oldest first.
	Entries []Entry
	// Next is the After value for the next Query.
	Next uint64
	// Dropped counts the entries later than After that the log no longer holds or that Max excluded. It is exact when all kinds are read.
	// Otherwise it may also count entries of other kinds.
	Dropped uint64
}

// Last returns the sequence number of the newest entry so far, or 0.
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Read reads the log. If After is ahead of the log, for example because it belongs to another tab, Read returns no entries.
func (l *Log) Read(q Query) Answer {
	items, out := l.pick(q)
	// A page can make formatting slow, so it happens without the lock.
	for i := len(items) - 1; i >= 0 && (q.Max <= 0 || len(out.Entries) < q.Max); i-- {
		e := items[i].entry()
		items = items[:i]
		if !q.Problems || e.Problem() {
			out.Entries = append(out.Entries, e)
		}
	}
	slices.Reverse(out.Entries)
	for _, it := range items { // the remaining items were excluded by Max
		if !q.Problems {
			out.Dropped++
		} else if e := it.entry(); e.Problem() {
			out.Dropped++
		}
	}
	return out
}

// itemCopy is a copy of an item.
type itemCopy struct {
	sequence uint64
	kind     Kind
	at       time.Time
	record   Record
	request  Entry
}

func (f *itemCopy) entry() Entry {
	e := f.request
	if f.record != nil {
		e = f.record.Entry()
	}
	e.Sequence, e.Kind, e.At = f.sequence, f.kind, f.at
	return e
}

// pick copies the items that a query selects, oldest first, and counts the items that the rings no longer hold.
func (l *Log) pick(q Query) ([]itemCopy, Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []itemCopy
	answer := Answer{Next: l.last}
	wanted := q.Kinds
	if len(wanted) == 0 {
		wanted = Kinds
	}
	for kind := range kinds {
		if !slices.Contains(wanted, kind) {
			continue
		}
		r := &l.rings[kind]
		if r.gone > q.After {
			answer.Dropped += min(r.evicted, r.gone-q.After)
		}
		for i := len(r.items) - 1; i >= 0 && r.items[i].sequence > q.After; i-- {
			out = append(out, r.items[i].freeze(kind))
		}
	}
	slices.SortFunc(out, func(a, b itemCopy) int { return int(int64(a.sequence) - int64(b.sequence)) })
	if len(wanted) >= int(kinds) && l.last >= q.After {
		answer.Dropped = l.missing(q.After, len(out))
	}
	return out, answer
}

// missing returns how many entries of all kinds after a sequence number are no longer in the log, which still holds n.
func (l *Log) missing(after uint64, n int) uint64 {
	moved := 0
	for _, s := range l.moved {
		if s > after {
			moved++
		}
	}
	return max(l.last-after, uint64(n+moved)) - uint64(n+moved)
}

func (it *item) freeze(kind Kind) itemCopy {
	f := itemCopy{sequence: it.sequence, kind: kind, at: it.at, record: it.record}
	if it.request != nil {
		f.request = *it.request
		it.seen = true
	}
	return f
}
