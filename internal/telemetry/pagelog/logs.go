// Package pagelog keeps what a tab's pages said and asked for: console messages, errors that nobody caught,
// and requests.
//
// A Log has one ring for each kind, bounded in entries and in bytes, so that a flood of one kind costs
// memory that is known beforehand and pushes out nothing of another. It is filled by whoever listens to the
// browser and read by anybody, at any time: it asks the page nothing, so it answers while the page hangs.
// What is not read is never formatted: a Record makes its entry when it is asked for, so that a page that
// floods its console costs little more than the copying of its messages.
//
// Its methods are safe for concurrent use and do not block but for each other.
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
	// Console is console.log and its like.
	Console Kind = iota
	// Failure is an error that no script caught, or a rejected promise.
	Failure
	// Network is a request and how it ended.
	Network
	kinds
)

// Kinds lists all kinds.
var Kinds = []Kind{Console, Failure, Network}

// Entry is one line of a log. Its words are the page's own: untrusted, but bounded and free of control
// characters other than line breaks and tabs.
type Entry struct {
	// Sequence grows by one with every entry of the log, from 1.
	Sequence uint64
	Kind     Kind
	At       time.Time
	// Level is log, info, warning, error or debug; of requests the method, such as GET.
	Level string
	// Text is at most 2,000 characters plus "…".
	Text string
	// URL is that of the script or the request, at most 500 characters plus "…".
	URL string
	// Line is that of the script, from 1; 0: not known.
	Line int
	// Status is the HTTP status; 0: no answer yet.
	Status int
	// Resource is the kind of a request, such as "fetch".
	Resource string
	// Failed says why a request failed, such as "net::ERR_CONNECTION_REFUSED".
	Failed string
	// Took is the time from the request to the end of the answer; 0: under way.
	Took time.Duration
	// Bytes counts what was received, headers included.
	Bytes int64
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

// Record makes an entry when it is read. Sequence, Kind and At are filled in by the log.
type Record interface{ Entry() Entry }

// Limits bound the ring of one kind.
type Limits struct {
	Count, Bytes int
}

// limits of each kind. Bytes are those that the caller says a record keeps alive; the log adds what it
// needs itself.
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
	// under holds the requests that are under way, by the browser's name for them. All of them are in the ring.
	under map[string]*item
	// moved holds the sequences that requests gave up for newer ones, in order; see end.
	moved []uint64
}

// item is a record in a ring.
type item struct {
	sequence uint64
	at       time.Time
	size     int
	record   Record
	// id is the browser's name for a request that is under way.
	id string
	// request is set for requests instead of record.
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
	// evicted counts those that were pushed out, and gone is the sequence of the last of them.
	evicted, gone uint64
}

// Add appends a record that keeps size bytes alive.
func (l *Log) Add(kind Kind, at time.Time, size int, r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(kind, &item{at: at, size: size + overhead, record: r})
}

// Miss says that entries were lost before they came here, because the page floods. They count as dropped.
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
	r.items = r.items[1:] // append makes room anew once in a while, and leaves what is behind to the collector
	r.bytes -= old.size
	r.evicted++
	r.gone = max(r.gone, old.sequence)
	if l.under[old.id] == old {
		delete(l.under, old.id)
	}
}

// Begin appends a request that is under way. Start is the browser's clock, 0 when it did not say. The request of that id that was
// under way before, if any, stays as it is.
func (l *Log) Begin(id string, start time.Duration, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under == nil {
		l.under = map[string]*item{}
	}
	it := &item{at: e.At, request: &e, id: id, start: start,
		size: overhead + len(id) + len(e.URL) + len(e.Level) + len(e.Resource) + 128}
	l.append(Network, it)
	l.under[id] = it
}

// Update changes a request that is under way; unknown ones are ignored. The entry's strings must stay as
// short as the entry's description says.
func (l *Log) Update(id string, change func(e *Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it := l.under[id]; it != nil {
		change(it.request)
	}
}

// maxMoved bounds what is remembered of sequences that were given up. Where it is not enough, entries count
// as dropped that were only moved.
const maxMoved = 2000

// End ends a request at a time of the browser's clock; unknown ones are ignored. A request that somebody has
// read while it was under way goes to the end of the log, so that who reads on learns how it ended.
func (l *Log) End(id string, at time.Duration, change func(e *Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	it := l.under[id]
	if it == nil {
		return
	}
	delete(l.under, id)
	it.id = ""
	if change != nil {
		change(it.request)
	}
	if it.start == 0 {
		it.request.Took = max(time.Since(it.at), time.Microsecond)
	} else {
		it.request.Took = max(at-it.start, time.Microsecond)
	}
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
	// After is the sequence behind which entries are read.
	After uint64
	// Max is how many of the newest are read; 0: all.
	Max int
	// Problems leaves out what is no problem.
	Problems bool
}

// Answer is what was read.
type Answer struct {
	// Entries are the oldest first.
	Entries []Entry
	// Next is the next Query.After.
	Next uint64
	// Dropped counts the entries behind After that the log no longer holds or Max left out. It is exact where
	// all kinds are read, and else at most too high by entries of other kinds.
	Dropped uint64
}

// Read reads the log. An After that is ahead of the log, as of another tab, reads nothing.
func (l *Log) Read(q Query) Answer {
	items, out := l.pick(q)
	// Formatting is the page's work to cause: it happens without the lock.
	for i := len(items) - 1; i >= 0 && (q.Max <= 0 || len(out.Entries) < q.Max); i-- {
		e := items[i].entry()
		items = items[:i]
		if !q.Problems || e.Problem() {
			out.Entries = append(out.Entries, e)
		}
	}
	slices.Reverse(out.Entries)
	for _, it := range items { // those that Max left out
		if !q.Problems {
			out.Dropped++
		} else if e := it.entry(); e.Problem() {
			out.Dropped++
		}
	}
	return out
}

// frozen is an item as it was at one moment.
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

// pick takes the items that a query is about, oldest first, and counts what the rings no longer hold.
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
		answer.Dropped = l.exactly(q.After, len(out))
	}
	return out, answer
}

// exactly is how many entries of all kinds behind a sequence are not held, of which there are n.
func (l *Log) exactly(after uint64, n int) uint64 {
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
