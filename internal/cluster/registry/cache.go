package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Change is a change of one key. Old is nil if there was no value, and New is nil if there is none now.
type Change[V any] struct {
	Key      string
	Old, New *Entry[V]
	// Lost reports that the registry lost Old: no write replaced it. New, if not nil, is an older write.
	Lost bool
}

// defaultGoBack is the default of Config.GoBack.
const defaultGoBack = 15 * time.Second

// stored is one message of a bucket. If live is false, the key no longer has a value.
type stored[V any] struct {
	entry Entry[V]
	live  bool
}

// cache holds the values of a View. A key reverts to an earlier revision only if the registry has lost a later one.
type cache[V any] struct {
	changed func(Change[V])
	// keep makes the cache keep values that the leader has lost, unless the leader has another value of the key.
	keep bool
	// patience is Config.GoBack.
	patience time.Duration

	mu      sync.Mutex
	entries map[string]Entry[V]
	// applied is the revision up to which all changes are in entries. Such changes are not in ahead.
	applied uint64
	// ahead maps keys that this node wrote after applied to their revisions.
	ahead map[string]uint64
	// complete is the last time when the cache was known to equal the bucket.
	complete time.Time
	// behind is the time when the leader was first seen to have less than the cache. reused reports that a revision was used twice.
	// Normally both are zero: the registry has lost nothing.
	behind time.Time
	reused bool
	// made is the creation time of the bucket, by a server's clock.
	made time.Time
	// leader is the name of the bucket's leader at the last comparison.
	leader string
	// signal is closed and replaced with each change.
	signal chan struct{}
}

func newCache[V any](keep bool, patience time.Duration, changed func(Change[V])) cache[V] {
	if changed == nil {
		changed = func(Change[V]) {}
	}
	return cache[V]{changed: changed, keep: keep, patience: patience, entries: map[string]Entry[V]{}, ahead: map[string]uint64{}, signal: make(chan struct{})}
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

// apply applies one change. If published is true, the change comes from the bucket's subject; otherwise it is a write of this node. apply
// returns false if changes before it are missing; merge then applies a published change later.
func (c *cache[V]) apply(s stored[V], published bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	revision := s.entry.Revision
	if revision <= c.applied {
		if e, ok := c.entries[s.entry.Key]; s.live && ok && e.Revision < revision {
			c.reused = true // otherwise the cache would have it
		}
		return true // the cache already has it
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

// state is the leader's report on a bucket: its last revision, its creation time, and the leader's name.
type state struct {
	last   uint64
	made   time.Time
	leader string
}

// reading describes a read from the leader, of all values from a revision on. If whole is set, values that are not read are gone. If back
// is set, the leader overrides later revisions in the cache.
type reading struct {
	from        uint64
	whole, back bool
}

// plan decides what to read. Deletion markers expire, and a recreated bucket starts over, so both require a full read. plan returns an
// error for a leader that has less than the cache, because it is probably no longer the leader. If this persists for Config.GoBack, the
// registry has lost data and plan accepts it.
func (c *cache[V]) plan(now time.Time, at state) (reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !at.made.Equal(c.made) {
		return reading{from: 1, whole: true}, nil
	}
	if at.last < c.applied {
		if c.behind.IsZero() {
			c.behind = now
		}
		if now.Sub(c.behind) < c.patience {
			return reading{}, fmt.Errorf("the leader has revision %d, and this node has %d", at.last, c.applied)
		}
	}
	switch {
	case c.reused || !c.behind.IsZero():
		return reading{from: 1, whole: true, back: true}, nil
	case now.Sub(c.complete) > keepMarkers/2:
		return reading{from: 1, whole: true}, nil
	}
	return reading{from: c.applied + 1}, nil
}

// merge applies the values read from the leader. They are in order and complete up to at.last.
func (c *cache[V]) merge(read []stored[V], r reading, at state, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.back:
		c.goBack(read, at, asked.Sub(c.complete) <= keepMarkers/2)
	case r.whole:
		c.forget(read, at)
	}
	for _, s := range read {
		c.set(s)
	}
	if at.last > c.applied {
		c.advance(at.last)
	}
	c.complete, c.leader = asked, at.leader
	c.behind, c.reused = time.Time{}, false
}

// goBack replaces values that the leader does not have with the leader's, unless this node has just written them. sure states that no
// deletion marker can have expired, so a missing key was lost and not deleted.
func (c *cache[V]) goBack(read []stored[V], at state, sure bool) {
	there := map[string]stored[V]{}
	for _, s := range read {
		there[s.entry.Key] = s
	}
	for key, e := range c.entries {
		s := there[key]
		if _, ahead := c.ahead[key]; ahead || s.entry.Revision >= e.Revision || c.keep && sure && s.entry.Revision == 0 {
			continue
		}
		change := Change[V]{Key: key, Old: &e, Lost: sure}
		if delete(c.entries, key); s.live {
			change.New = &s.entry
			c.entries[key] = s.entry
		}
		c.report(change)
	}
	c.applied = min(c.applied, at.last)
}

// forget removes the keys that were not read, unless this node wrote them later. It keeps nothing of a bucket that was recreated.
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

// advance raises applied.
func (c *cache[V]) advance(to uint64) {
	c.applied = to
	for key, revision := range c.ahead {
		if revision <= to {
			delete(c.ahead, key)
		}
	}
}

// set stores or removes one value and reports the change, unless the cache has a later value of the key.
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
	c.report(change)
}

// report notifies the subscribers of a change.
func (c *cache[V]) report(change Change[V]) {
	c.changed(change)
	close(c.signal)
	c.signal = make(chan struct{})
}
