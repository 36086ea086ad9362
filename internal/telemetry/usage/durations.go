package usage

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

const (
	// fine is the number of buckets per doubling, so a duration has a relative precision of one part in fine.
	fine = 8
	// buckets is the number of buckets. The last one holds durations of more than a day.
	buckets = 35 * fine
)

// Durations is a histogram of durations. It is exact to the microsecond below 16 µs, and to an eighth above. The zero value is empty. It
// uses 64 bytes for each doubling between the shortest and the longest duration, at most 2 KB.
type Durations struct {
	// counts holds the buckets from index first, which starts a doubling. Other buckets are 0.
	counts []uint64
	first  int
	n      uint64
	max    time.Duration
}

// Add adds a duration. A negative duration counts as zero.
func (t *Durations) Add(d time.Duration) {
	at := bucket(max(0, d.Microseconds()))
	t.reach(at)
	t.counts[at-t.first]++
	t.n++
	t.max = max(t.max, d)
}

// reach extends counts to include a bucket.
func (t *Durations) reach(bucket int) {
	first, end := bucket/fine*fine, bucket/fine*fine+fine
	if t.counts != nil {
		first, end = min(first, t.first), max(end, t.first+len(t.counts))
	}
	if end-first == len(t.counts) {
		return
	}
	counts := make([]uint64, end-first)
	copy(counts[max(0, t.first-first):], t.counts)
	t.counts, t.first = counts, first
}

// clone returns a copy that shares nothing.
func (t *Durations) clone() Durations {
	c := *t
	c.counts = slices.Clone(t.counts)
	return c
}

// bucket returns the index of the bucket for a number of microseconds.
func bucket(us int64) int {
	shift := max(0, bits.Len64(uint64(us))-4)
	return min(shift*fine+int(us>>shift), buckets-1)
}

// middle returns the middle of a bucket, in microseconds.
func middle(bucket int) float64 {
	if bucket < 2*fine {
		return float64(bucket)
	}
	shift := bucket/fine - 1
	low := uint64(bucket-shift*fine) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

// Count returns the number of added durations.
func (t *Durations) Count() int64 { return int64(t.n) }

// Max returns the exact longest duration.
func (t *Durations) Max() time.Duration { return t.max }

// Quantile returns the duration that the fraction q of all durations, from 0 to 1, does not exceed. The error is at most one fifteenth plus
// half a microsecond. Without durations it returns 0.
func (t *Durations) Quantile(q float64) time.Duration {
	if t.n == 0 {
		return 0
	}
	rank := max(1, uint64(math.Ceil(q*float64(t.n))))
	for i, n := range t.counts {
		if rank <= n {
			return min(t.max, time.Duration(middle(t.first+i)*float64(time.Microsecond)))
		}
		rank -= n
	}
	return t.max
}
