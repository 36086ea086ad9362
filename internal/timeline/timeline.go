// Package timeline records the events of a tab as entries in one order, bounded in number and bytes.
//
// A Store has a lock and no goroutine. Event sources add entries and change entries that are still in progress. Entries in the store are
// immutable: a change replaces an entry with a new version, so readers can share entries. A reader keeps a cursor, the version up to which
// it has read. A slow reader gets the newest version of each entry and delays no other reader.
package timeline

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Entry is one line of a timeline.
type Entry = domtapv1.TimelineEntry

// Limits limits a store. Zero values select the defaults.
type Limits struct {
	// Entries limits the number of entries, and Bytes their approximate size. The defaults are 1,000 and 1 MiB. The newest entry is always
	// kept.
	Entries, Bytes int
	// Mask removes data from an entry that must not be stored. It returns the same entry or a copy. If nil, entries are stored unchanged.
	Mask func(*Entry) *Entry
}

// overhead is the approximate memory cost of an entry in addition to its encoded form, in bytes.
const overhead = 300

// maxUsers limits the clients whose usage is counted separately. The others are counted together, without a name.
const maxUsers = 64

// Store is the timeline of one tab. Its methods are safe for concurrent use and block only for each other.
type Store struct {
	limits Limits

	mu sync.Mutex
	// items is sorted by the ids of the entries.
	items   []item
	bytes   int
	id      uint64
	version uint64
	dropped uint64
	users   []*domtapv1.TimelineClient
	// changed is closed at the next change. It is nil if no reader waits.
	changed chan struct{}
	closed  bool
	// loaded reports that the entries come from a recording and cannot change.
	loaded bool
}

type item struct {
	entry *Entry
	size  int
}

// New returns an empty store.
func New(l Limits) *Store {
	if l.Entries <= 0 {
		l.Entries = 1000
	}
	if l.Bytes <= 0 {
		l.Bytes = 1 << 20
	}
	return &Store{limits: l}
}

// Add appends an entry and returns its id. The store takes ownership of the entry. If the entry equals the newest one except for time,
// duration, tokens and revisions, and is not a call in progress, Add merges it with the newest one.
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

// masked returns the form of an entry that is stored.
func (s *Store) masked(e *Entry) *Entry {
	if s.limits.Mask == nil {
		return e
	}
	return s.limits.Mask(e)
}

// Load fills the store with entries, including their ids and versions, regardless of the limits. They must be sorted by id. After Load, the
// entries cannot change.
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

// Change calls change with a copy of an entry and stores the result. If the entry was dropped, Change stores nothing but still counts its
// cost.
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

// replace replaces the entry at an index and drops entries beyond the limits. The caller holds the lock.
func (s *Store) replace(i int, e *Entry) {
	s.version++
	e.Version = s.version
	size := proto.Size(e) + overhead
	s.bytes += size - s.items[i].size
	s.items[i] = item{e, size}
	for len(s.items) > s.limits.Entries || s.bytes > s.limits.Bytes && len(s.items) > 1 {
		s.bytes -= s.items[0].size
		s.items[0] = item{}
		s.items = s.items[1:] // append moves the remaining items from time to time
		s.dropped++
	}
	s.wake()
}

// wake wakes all waiting readers. The caller holds the lock.
func (s *Store) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// WakeAll wakes all readers that wait for a change, because they may have something to add.
func (s *Store) WakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// Close ends the timeline and wakes all waiting readers. After Close, no entries are added.
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

// Changed returns a channel that is closed at the next change, WakeAll or Close. Call it before Read to miss no change.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Query selects the entries to read.
type Query struct {
	// AfterVersion excludes versions up to and including its value. AfterID excludes ids up to and including its value. BeforeID excludes
	// its value and all greater ids. Zero excludes nothing.
	AfterVersion, AfterID, BeforeID uint64
	// Only selects entries. If nil, all entries are selected.
	Only func(*Entry) bool
	// Max limits the number of entries. Zero means no limit. With AfterID, Read returns the first matching entries, otherwise the last
	// ones.
	Max int
}

// Answer is the result of Read.
type Answer struct {
	// Entries is sorted by id. Callers must not modify the entries.
	Entries []*Entry
	// Version is the AfterVersion value for the next Query.
	Version uint64
	// More reports that Max excluded entries.
	More bool
	// First is the id of the oldest stored entry, or 0 if there is none. Dropped counts the entries before it.
	First, Dropped uint64
	// Users lists the clients and their costs, in order of first appearance. Callers must not modify them.
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
