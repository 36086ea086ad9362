package lease

import (
	"cmp"
	"slices"
	"time"
)

// Observer tracks the leases of other nodes. One goroutine uses it. The zero value with a Timing is ready for use.
type Observer struct {
	Timing Timing
	seen   map[string]observation
}

// observation is the latest revision of a lease, with the time when it was first seen.
type observation struct {
	revision uint64
	since    time.Time
}

// Silent is a lease without visible renewals.
type Silent struct {
	Key string
	// Revision is the last revision seen, or 0 if there was none.
	Revision uint64
	// For is the time since the last change.
	For time.Duration
}

// Observe reports the revision of a lease. Revision 0 stands for a missing lease whose holder has sessions. Any revision other than the last
// one is a sign of life, even a lower one: after a gap in the observations, a stale server may return a lower revision that this observer
// had not seen.
func (o *Observer) Observe(key string, revision uint64, now time.Time) {
	if o.seen == nil {
		o.seen = map[string]observation{}
	}
	if s, ok := o.seen[key]; !ok || s.revision != revision {
		o.seen[key] = observation{revision, now}
	}
}

// Revision returns the last revision of a lease that was seen, or 0.
func (o *Observer) Revision(key string) uint64 { return o.seen[key].revision }

// Forget stops tracking a lease, for example because it has ended.
func (o *Observer) Forget(key string) { delete(o.seen, key) }

// Silent lists the leases that have not changed for at least the given duration, longest silence first. After Timing.Lapsed, the holder has
// stopped if the revision is still current. Callers must prove that by replacing exactly this revision before they act.
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

// Lapsed returns how long a lease must be silent before it may be ended.
func (t Timing) Lapsed() time.Duration { return t.TTL + t.TakeoverMargin }

// SuspectAfter returns how long a lease must be silent before an observer reads it from the store, in case changes have not reached the
// observer.
func (t Timing) SuspectAfter() time.Duration { return 2 * t.RenewEvery }
