package usage

import (
	"math"
	"math/bits"
	"time"
)

const (
	// fine is how many buckets there are for each doubling: a duration is known to one part in fine.
	fine = 8
	// buckets is the number of buckets; the last is for durations of more than a day.
	buckets = 35 * fine
)

// Durations is a histogram of durations: exact to the microsecond below 16 µs, and to an eighth above. The
// zero value is empty. Its size is fixed, some 2 KB.
type Durations struct {
	counts [buckets]uint64
	n      uint64
	max    time.Duration
}

// Add adds a duration. A negative one counts as zero.
func (t *Durations) Add(d time.Duration) {
	t.counts[bucket(max(0, d.Microseconds()))]++
	t.n++
	t.max = max(t.max, d)
}

// bucket is the bucket of so many microseconds.
func bucket(us int64) int {
	shift := max(0, bits.Len64(uint64(us))-4)
	return min(shift*fine+int(us>>shift), buckets-1)
}

// middle is the middle of a bucket, in microseconds.
func middle(bucket int) float64 {
	if bucket < 2*fine {
		return float64(bucket)
	}
	shift := bucket/fine - 1
	low := uint64(bucket-shift*fine) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

// Count is how many durations were added.
func (t *Durations) Count() int64 { return int64(t.n) }

// Max is the longest duration, exactly.
func (t *Durations) Max() time.Duration { return t.max }

// Quantile is the duration that the fraction q of all durations, 0 to 1, does not exceed; it is off by a
// fifteenth at most, and by half a microsecond. Without durations it is 0.
func (t *Durations) Quantile(q float64) time.Duration {
	if t.n == 0 {
		return 0
	}
	rank := max(1, uint64(math.Ceil(q*float64(t.n))))
	for i, n := range &t.counts {
		if rank <= n {
			return min(t.max, time.Duration(middle(i)*float64(time.Microsecond)))
		}
		rank -= n
	}
	return t.max
}
