package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Change is what happened to one key. Old or New is nil when there was, or is, no value.
type Change[V any] struct {
	Key      string
	Old, New *Entry[V]
}

// stored is one message of a bucket; without live, it says that the key has no value any more.
type stored[V any] struct {
	entry Entry[V]
	live  bool
}

// cache holds the values of a View. What it holds of a key never goes back to an earlier revision.
type cache[V any] struct {
	changed func(Change[V])

	mu      sync.Mutex
	entries map[string]Entry[V]
	// applied: every change up to this revision is in entries, and removed from ahead.
	applied uint64
	// ahead are the keys that this node wrote later than applied, with the revisions.
	ahead map[string]uint64
	// complete is when the cache was known to have everything.
	complete time.Time
	// made is when the bucket was made, by the clock of a server.
	made time.Time
	// leader is the name of the server that said so last.
	leader string
	// signal is closed and replaced with each change.
	signal chan struct{}
}

func newCache[V any](changed func(Change[V])) cache[V] {
	if changed == nil {
		changed = func(Change[V]) {}
	}
	return cache[V]{changed: changed, entries: map[string]Entry[V]{}, ahead: map[string]uint64{}, signal: make(chan struct{})}
}

func (c *cache[V]) get(key string) (Entry[V], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e, ok
}

func (c *cache[V]) all() []Entry[V] {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.entries))
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b Entry[V]) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

func (c *cache[V]) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signal
}

func (c *cache[V]) known() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.complete
}

func (c *cache[V]) leads() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

// apply takes one change: with published, the bucket's next one, or else a write of this node. It reports whether nothing is missing
// between this change and the last one; if something is, a published change is left for merge.
func (c *cache[V]) apply(s stored[V], published bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	revision := s.entry.Revision
	if revision <= c.applied {
		return true // it is in already
	}
	if !published {
		c.set(s)
		c.ahead[s.entry.Key] = revision
		return true
	}
	if revision != c.applied+1 {
		return false
	}
	c.set(s)
	c.advance(revision)
	return true
}

// state is what the leader says of a bucket: its last revision, and when it was made; and the leader's name.
type state struct {
	last   uint64
	made   time.Time
	leader string
}

// plan says from which revision on to read, and whether what is not read is gone. Deletions are remembered for a while only, and a
// bucket that was made again begins anew. It fails for a leader that knows less than the cache, which is one no more.
func (c *cache[V]) plan(now time.Time, at state) (from uint64, whole bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !at.made.Equal(c.made):
		return 1, true, nil
	case at.last < c.applied:
		return 0, false, fmt.Errorf("the leader has revision %d, and this node has %d", at.last, c.applied)
	case now.Sub(c.complete) > keepMarkers/2:
		return 1, true, nil
	}
	return c.applied + 1, false, nil
}

// merge takes what was read from the leader, in order, which is everything up to at.last. With whole, keys that were not read are gone.
func (c *cache[V]) merge(read []stored[V], whole bool, at state, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole {
		c.forget(read, at)
	}
	for _, s := range read {
		c.set(s)
	}
	if at.last > c.applied {
		c.advance(at.last)
	}
	c.complete, c.leader = asked, at.leader
}

// forget removes the keys that were not read, unless this node wrote them later. Of a bucket that was made again, nothing stays.
func (c *cache[V]) forget(read []stored[V], at state) {
	there := map[string]bool{}
	for _, s := range read {
		there[s.entry.Key] = true
	}
	again := !at.made.Equal(c.made)
	for key, e := range c.entries {
		if again || !there[key] && e.Revision <= at.last {
			delete(c.ahead, key)
			c.set(stored[V]{entry: Entry[V]{Key: key, Revision: e.Revision}})
		}
	}
	if again {
		clear(c.ahead)
		c.applied, c.made = 0, at.made
	}
}

// advance moves applied.
func (c *cache[V]) advance(to uint64) {
	c.applied = to
	for key, revision := range c.ahead {
		if revision <= to {
			delete(c.ahead, key)
		}
	}
}

// set stores or removes one value, and reports the change, unless the cache has a later one of the key.
func (c *cache[V]) set(s stored[V]) {
	key := s.entry.Key
	old, had := c.entries[key]
	switch {
	case s.entry.Revision < max(c.ahead[key], old.Revision):
		return
	case s.live && s.entry.Revision == old.Revision, !s.live && !had:
		return
	}
	change := Change[V]{Key: key}
	if had {
		change.Old = &old
	}
	if s.live {
		change.New = &s.entry
		c.entries[key] = s.entry
	} else {
		delete(c.entries, key)
	}
	c.changed(change)
	close(c.signal)
	c.signal = make(chan struct{})
}
