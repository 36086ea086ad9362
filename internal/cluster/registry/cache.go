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
	// Lost: the registry had Old, and does not have it any more, although nobody replaced it. Who wrote New, if there is one, did so before.
	Lost bool
}

// defaultGoBack is that of Config.GoBack.
const defaultGoBack = 15 * time.Second

// stored is one message of a bucket; without live, it says that the key has no value any more.
type stored[V any] struct {
	entry Entry[V]
	live  bool
}

// cache holds the values of a View. What it holds of a key goes back to an earlier revision only when the registry has lost a later one.
type cache[V any] struct {
	changed func(Change[V])
	// keep: what the leader has lost stays, where it has nothing instead.
	keep bool
	// patience is that of Config.GoBack.
	patience time.Duration

	mu      sync.Mutex
	entries map[string]Entry[V]
	// applied: every change up to this revision is in entries, and removed from ahead.
	applied uint64
	// ahead are the keys that this node wrote later than applied, with the revisions.
	ahead map[string]uint64
	// complete is when the cache was known to have everything.
	complete time.Time
	// behind is since when the leader knows less than the cache, and reused says that a revision came twice; neither, as nearly always: the
	// registry has lost nothing.
	behind time.Time
	reused bool
	// made is when the bucket was made, by the clock of a server.
	made time.Time
	// leader is the name of the server that said so last.
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

// apply takes one change: with published, the bucket's next one, or else a write of this node. It reports whether nothing is missing
// between this change and the last one; if something is, a published change is left for merge.
func (c *cache[V]) apply(s stored[V], published bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	revision := s.entry.Revision
	if revision <= c.applied {
		if e, ok := c.entries[s.entry.Key]; s.live && ok && e.Revision < revision {
			c.reused = true // else it would be in
		}
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

// reading is what to read from the leader: all from a revision on. With whole, what is not read is gone; with back, the leader is right also
// where the cache has later revisions.
type reading struct {
	from        uint64
	whole, back bool
}

// plan says what to read. Deletions are remembered for a while only, and a bucket that was made again begins anew. It fails for a leader that
// knows less than the cache, which is one no more, unless that stays so: then the registry has lost something.
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

// merge takes what was read from the leader, in order, which is everything up to at.last.
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

// goBack replaces what the leader does not have by what it has, unless this node wrote it just now. Sure says that no deletion can have been
// forgotten, so that what is not there was lost.
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
	c.report(change)
}

// report tells whoever waits for changes.
func (c *cache[V]) report(change Change[V]) {
	c.changed(change)
	close(c.signal)
	c.signal = make(chan struct{})
}
