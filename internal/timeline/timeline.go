// Package timeline keeps what happened on a tab: entries in one order, bounded in number and bytes.
//
// A Store is a plain value with a lock and no goroutine. Whoever knows what happened adds entries, and changes those that are not
// over. Entries are immutable once they are in the store: a change replaces one by another version, so that readers share them.
// A reader is a cursor, the version up to which it knows everything: a slow reader gets the newest version of each entry, and
// delays nobody.
package timeline

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Entry is one line of a timeline.
type Entry = domtapv1.TimelineEntry

// Limits bound a store. Zero: the default.
type Limits struct {
	// Entries and Bytes are how many entries a store keeps, and about how many bytes; 0: 1,000 and 1 MiB. The newest entry is kept
	// whatever it takes.
	Entries, Bytes int
	// Mask returns an entry without what nobody is to read later: the same one, or a copy; nil: every entry is kept as it is.
	Mask func(*Entry) *Entry
}

// overhead is about what an entry costs beyond its encoded form, in bytes.
const overhead = 300

// maxUsers bounds the clients whose usage is counted apart; the others are counted together, without a name.
const maxUsers = 64

// Store is the timeline of one tab. Its methods are safe for concurrent use, and wait only for each other.
type Store struct {
	limits Limits

	mu sync.Mutex
	// items are sorted by their entries' ids.
	items   []item
	bytes   int
	id      uint64
	version uint64
	dropped uint64
	users   []*domtapv1.TimelineClient
	// changed is closed at the next change; nil: nobody waits.
	changed chan struct{}
	closed  bool
	// loaded says that the entries are of a recording, and stay as they are.
	loaded bool
}

type item struct {
	entry *Entry
	size  int
}

// New makes an empty store.
func New(l Limits) *Store {
	if l.Entries <= 0 {
		l.Entries = 1000
	}
	if l.Bytes <= 0 {
		l.Bytes = 1 << 20
	}
	return &Store{limits: l}
}

// Add appends an entry, which belongs to the store from then on, and returns its id. An entry that is the same as the newest one but
// for time, duration, tokens and revisions, and is no call under way, is added to that one.
func (s *Store) Add(e *Entry) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return 0
	}
	e = s.masked(e)
	if e.Count == 0 {
		e.Count = 1
	}
	s.count(nil, e)
	if n := len(s.items); n > 0 && same(s.items[n-1].entry, e) {
		s.replace(n-1, joined(s.items[n-1].entry, e))
		return s.id
	}
	s.id++
	e.Id = s.id
	s.items = append(s.items, item{})
	s.replace(len(s.items)-1, e)
	return e.Id
}

// masked is an entry as it is kept.
func (s *Store) masked(e *Entry) *Entry {
	if s.limits.Mask == nil {
		return e
	}
	return s.limits.Mask(e)
}

// Load makes entries those of the store, with their ids and versions, whatever they take. They must be sorted by id. Nothing is added or
// changed from then on.
func (s *Store) Load(entries []*Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items, s.bytes, s.id, s.version, s.dropped, s.users, s.loaded = nil, 0, 0, 0, 0, nil, true
	for _, e := range entries {
		s.count(nil, e)
		s.items = append(s.items, item{e, proto.Size(e) + overhead})
		s.id, s.version = max(s.id, e.Id), max(s.version, e.Version)
	}
	s.wake()
}

// Change replaces an entry by what a function makes of a copy of it. An entry that is dropped is not changed, but what it cost is
// counted.
func (s *Store) Change(id uint64, change func(*Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.items, id, func(it item, id uint64) int { return int(int64(it.entry.Id) - int64(id)) })
	if !found {
		return
	}
	old := s.items[i].entry
	next := proto.CloneOf(old)
	change(next)
	next = s.masked(next)
	next.Id = id
	s.count(old, next)
	s.replace(i, next)
}

// replace puts an entry in a place and drops what is too much; the lock is held.
func (s *Store) replace(i int, e *Entry) {
	s.version++
	e.Version = s.version
	size := proto.Size(e) + overhead
	s.bytes += size - s.items[i].size
	s.items[i] = item{e, size}
	for len(s.items) > s.limits.Entries || s.bytes > s.limits.Bytes && len(s.items) > 1 {
		s.bytes -= s.items[0].size
		s.items[0] = item{}
		s.items = s.items[1:] // append moves the rest once in a while
		s.dropped++
	}
	s.wake()
}

// wake tells everybody who waits; the lock is held.
func (s *Store) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Poke wakes everybody who waits for a change: there may be something to add.
func (s *Store) Poke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// Close says that nothing is added any more, and wakes everybody who waits.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
}

// Closed reports whether the store was closed.
func (s *Store) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Changed returns a channel that is closed at the next change, Poke or Close. Take it before Read, so that nothing is missed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Query says what to read.
type Query struct {
	// AfterVersion, AfterID and BeforeID leave out entries up to a version, up to an id, and from an id on; 0: none.
	AfterVersion, AfterID, BeforeID uint64
	// Only says which entries are wanted; nil: all.
	Only func(*Entry) bool
	// Max is how many entries are read; 0: all. With AfterID they are the first that match, otherwise the last.
	Max int
}

// Answer is what was read.
type Answer struct {
	// Entries are sorted by id. They are not to be written to.
	Entries []*Entry
	// Version is the next Query.AfterVersion.
	Version uint64
	// More says that Max left out entries.
	More bool
	// First is the id of the oldest entry that is kept; 0: there is none. Dropped counts the entries before it.
	First, Dropped uint64
	// Users are the clients and what they cost, in the order in which they came; they are not to be written to.
	Users []*domtapv1.TimelineClient
}

// Read reads entries.
func (s *Store) Read(q Query) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Answer{Version: s.version, Dropped: s.dropped, Users: slices.Clone(s.users)}
	if len(s.items) > 0 {
		out.First = s.items[0].entry.Id
	}
	for _, it := range s.items {
		e := it.entry
		if e.Version <= q.AfterVersion || e.Id <= q.AfterID || q.BeforeID > 0 && e.Id >= q.BeforeID || q.Only != nil && !q.Only(e) {
			continue
		}
		if out.Entries = append(out.Entries, e); q.Max > 0 && len(out.Entries) > q.Max && q.AfterID > 0 {
			break
		}
	}
	if over := len(out.Entries) - q.Max; q.Max > 0 && over > 0 {
		out.More = true
		if q.AfterID > 0 {
			out.Entries = out.Entries[:q.Max]
		} else {
			out.Entries = out.Entries[over:]
		}
	}
	return out
}
