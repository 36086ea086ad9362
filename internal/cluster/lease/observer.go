package lease

import (
	"cmp"
	"slices"
	"time"
)

// Observer is what a node knows of the leases of others. It belongs to one goroutine. The zero value with a Timing is ready.
type Observer struct {
	Timing Timing
	seen   map[string]sight
}

// sight is the revision of a lease that was seen last, and when it was first seen.
type sight struct {
	revision uint64
	since    time.Time
}

// Silent is a lease that was not seen to change.
type Silent struct {
	Key string
	// Revision is the one that was seen; 0: there was none.
	Revision uint64
	// For is since when.
	For time.Duration
}

// See reports that a lease has a revision; 0: that it is not there, but its holder has sessions. Any revision that differs from the last
// one is a sign of life: after an absence of the observer it may be the later one although it was read from a server of the past.
func (o *Observer) See(key string, revision uint64, now time.Time) {
	if o.seen == nil {
		o.seen = map[string]sight{}
	}
	if s, ok := o.seen[key]; !ok || s.revision != revision {
		o.seen[key] = sight{revision, now}
	}
}

// Revision is the revision of a lease that was seen last; 0: none.
func (o *Observer) Revision(key string) uint64 { return o.seen[key].revision }

// Forget forgets a lease, as of one that has ended.
func (o *Observer) Forget(key string) { delete(o.seen, key) }

// Silent lists the leases that did not change for at least a duration, the longest silence first. For Lapsed, the holder has stopped if
// the revision is still the last one: replace that very revision before you act on it.
func (o *Observer) Silent(now time.Time, least time.Duration) []Silent {
	var list []Silent
	for key, s := range o.seen {
		if d := now.Sub(s.since); d >= least {
			list = append(list, Silent{key, s.revision, d})
		}
	}
	slices.SortFunc(list, func(a, b Silent) int { return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.Key, b.Key)) })
	return list
}

// Lapsed is how long a lease has to be silent before it may be ended.
func (t Timing) Lapsed() time.Duration { return t.TTL + t.Late }

// Suspect is how long a lease has to be silent before an observer asks the store, because changes may not have reached it.
func (t Timing) Suspect() time.Duration { return 2 * t.Every }
