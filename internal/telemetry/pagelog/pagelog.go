// Package pagelog keeps the console messages, uncaught errors and requests of a tab's pages.
//
// A Log has one ring for each kind, bounded in entries and in bytes, so that a flood of one kind has a known
// cost in memory and evicts no entry of another kind. The browser's event handlers fill the log, and anybody
// reads it at any time: reading asks the page nothing, so it works while the page hangs. Entries are
// formatted when they are read: a Record makes its entry on demand, so that a page that floods its console
// costs little more than the copying of its messages.
//
// Its methods are safe for concurrent use, and wait only for each other.
package pagelog

import (
	"slices"
	"sync"
	"time"
)

// Kind is what an entry is about.
type Kind uint8

// The kinds.
const (
	// Console is console.log and the other console methods.
	Console Kind = iota
	// Failure is an error that no script caught, or a rejected promise.
	Failure
	// Network is a request and how it ended.
	Network
	kinds
)

// Kinds lists all kinds.
var Kinds = []Kind{Console, Failure, Network}

// Entry is one line of a log. Its texts come from the page: untrusted, but bounded and free of control
// characters other than line breaks and tabs.
type Entry struct {
	// Sequence grows by one with every entry of the log, from 1.
	Sequence uint64
	Kind     Kind
	At       time.Time
	// Level is log, info, warning, error or debug; for requests the method, such as GET.
	Level string
	// Text is at most 2,000 characters plus "…".
	Text string
	// URL is the URL of the script or the request, at most 500 characters plus "…".
	URL string
	// Line is the line in the script, from 1; 0: not known.
	Line int
	// Status is the HTTP status; 0: no answer yet.
	Status int
	// Resource is the kind of a request, such as "fetch".
	Resource string
	// Failed says why a request failed, such as "net::ERR_CONNECTION_REFUSED".
	Failed string
	// Took is the time from the request to the end of the answer; 0: under way.
	Took time.Duration
	// Bytes counts the bytes received, headers included.
	Bytes int64
	// Request names a request as long as the log has it: the sequence that it had first.
	Request uint64
	// Source has the details of a request; nil: they are dropped, or it is none. Only the log and who fills it use it.
	Source Source
}

// Problem reports whether an entry is a warning, an error, or a request that failed or was answered with
// 400 and above.
func (e *Entry) Problem() bool {
	switch e.Kind {
	case Failure:
		return true
	case Network:
		return e.Failed != "" || e.Status >= 400
	}
	return e.Level == "warning" || e.Level == "error"
}

// Record makes an entry when the entry is read. The log fills in Sequence, Kind and At.
type Record interface{ Entry() Entry }

// Limits bound the ring of one kind.
type Limits struct {
	Count, Bytes int
}

// limits of each kind. Bytes are the bytes that a record keeps alive, as the caller of Add says, and overhead.
var limits = [kinds]Limits{
	Console: {1000, 512 << 10},
	Failure: {500, 256 << 10},
	Network: {1000, 512 << 10},
}

// overhead is about what an item costs beyond its record, in bytes.
const overhead = 128

// Log is the log of one tab. The zero value is empty and ready.
type Log struct {
	mu    sync.Mutex
	last  uint64
	rings [kinds]ring
	// pending holds the requests that are under way, by the browser's request id. All of them are in the ring.
	pending map[string]*item
	// moved holds the sequences of requests that got newer ones, in order; see End.
	moved []uint64
	problems
	// details holds the requests whose details are kept.
	details details
}

// item is a record in a ring.
type item struct {
	sequence uint64
	at       time.Time
	size     int
	record   Record
	// id is the browser's request id while the request is under way.
	id string
	// request is set in place of record for requests.
	request *Entry
	// seen says that the entry was read while the request was under way.
	seen bool
	// start is the browser's clock when the request began.
	start time.Duration
}

// ring is a bounded list, oldest first.
type ring struct {
	items []*item
	bytes int
	// evicted counts the items that were evicted, and gone is the sequence of the last of them.
	evicted, gone uint64
}

// Add appends a record that keeps size bytes alive.
func (l *Log) Add(kind Kind, at time.Time, size int, r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(kind, &item{at: at, size: size + overhead, record: r})
	l.problems.tell()
}

// Miss counts entries as dropped that never came here, because the page floods.
func (l *Log) Miss(kind Kind, n uint64) {
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

// evict drops the oldest item of a ring.
func (l *Log) evict(r *ring) {
	old := r.items[0]
	r.items[0] = nil
	r.items = r.items[1:] // append moves the items once in a while, and leaves the old array to the garbage collector
	r.bytes -= old.size
	r.evicted++
	r.gone = max(r.gone, old.sequence)
	if l.pending[old.id] == old {
		delete(l.pending, old.id)
	}
	l.details.drop(old)
}

// Begin appends a request that is under way. Start is the time on the browser's clock; 0: not known. An earlier
// request of the same id that is under way stays as it is.
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

// Update changes a request that is under way; unknown requests are ignored. The entry's strings must stay
// within the limits of Entry.
func (l *Log) Update(id string, change func(e *Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it := l.pending[id]; it != nil {
		l.change(it, change)
	}
}

// change changes a request, and keeps count of its details.
func (l *Log) change(it *item, change func(e *Entry)) {
	before := 0
	if it.request.Source != nil {
		before = it.request.Source.Size() + overhead
	}
	change(it.request)
	l.details.changed(it, before)
}

// maxMoved bounds moved. Beyond it, entries that were only moved count as dropped.
const maxMoved = 2000

// End ends a request at a time of the browser's clock; unknown requests are ignored. A request that was read
// while it was under way moves to the end of the log, so that the next read shows how the request ended.
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

// Query says what to read.
type Query struct {
	// Kinds; none: all.
	Kinds []Kind
	// After is the sequence after which entries are read.
	After uint64
	// Max is how many of the newest entries are read; 0: all.
	Max int
	// Problems leaves out entries that are not problems.
	Problems bool
}

// Answer is the result of Read.
type Answer struct {
	// Entries are sorted, the oldest first.
	Entries []Entry
	// Next is the next Query.After.
	Next uint64
	// Dropped counts the entries after After that the log no longer holds or Max left out. It is exact when
	// all kinds are read; otherwise it may be too high by entries of other kinds.
	Dropped uint64
}

// Read reads the log. With an After that is ahead of the log, such as one of another tab, Read reads nothing.
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
	for _, it := range items { // the items that Max left out
		if !q.Problems {
			out.Dropped++
		} else if e := it.entry(); e.Problem() {
			out.Dropped++
		}
	}
	return out
}

// frozen is a copy of an item.
type frozen struct {
	sequence uint64
	kind     Kind
	at       time.Time
	record   Record
	request  Entry
}

func (f *frozen) entry() Entry {
	e := f.request
	if f.record != nil {
		e = f.record.Entry()
	}
	e.Sequence, e.Kind, e.At = f.sequence, f.kind, f.at
	return e
}

// pick copies the items that a query selects, oldest first, and counts what the rings no longer hold.
func (l *Log) pick(q Query) ([]frozen, Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []frozen
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
	slices.SortFunc(out, func(a, b frozen) int { return int(int64(a.sequence) - int64(b.sequence)) })
	if len(wanted) >= int(kinds) && l.last >= q.After {
		answer.Dropped = l.missing(q.After, len(out))
	}
	return out, answer
}

// missing is how many entries of all kinds after a sequence the log does not hold; it holds n.
func (l *Log) missing(after uint64, n int) uint64 {
	moved := 0
	for _, s := range l.moved {
		if s > after {
			moved++
		}
	}
	return max(l.last-after, uint64(n+moved)) - uint64(n+moved)
}

func (it *item) freeze(kind Kind) frozen {
	f := frozen{sequence: it.sequence, kind: kind, at: it.at, record: it.record}
	if it.request != nil {
		f.request = *it.request
		it.seen = true
	}
	return f
}
