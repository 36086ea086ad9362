//go:build unix

package soak

import (
	"math"
	"sync"
	"time"
)

const (
	// finest is the upper bound of the first bucket. The upper bound of each further bucket is larger by the factor step, so a value from a
	// histogram is at most 2 % too long.
	finest = 10 * time.Microsecond
	step   = 1.02
	// buckets cover about three minutes. The last bucket holds longer durations.
	buckets = 850
)

// histogram counts durations in constant memory.
type histogram struct {
	counts [buckets]int
	total  int
	most   time.Duration
}

func (h *histogram) add(d time.Duration) {
	i := 0
	if d > finest {
		i = min(buckets-1, int(math.Ceil(math.Log(float64(d)/float64(finest))/math.Log(step))))
	}
	h.counts[i]++
	h.total++
	h.most = max(h.most, d)
}

// at returns the p-th percentile, or 0 if nothing was counted.
func (h *histogram) at(p float64) time.Duration {
	left := int(math.Ceil(float64(h.total) * p / 100))
	for i, n := range h.counts {
		if left -= n; left <= 0 && h.total > 0 {
			return min(h.most, time.Duration(float64(finest)*math.Pow(step, float64(i))))
		}
	}
	return 0
}

// stopwatch has a histogram of all durations, and one of the durations since the last printed line.
type stopwatch struct {
	mu          sync.Mutex
	all, recent histogram
}

func (s *stopwatch) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.add(d)
	s.recent.add(d)
}

// lap returns the recent durations and resets them.
func (s *stopwatch) lap() histogram {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.recent
	s.recent = histogram{}
	return h
}

// whole returns all durations.
func (s *stopwatch) whole() histogram {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
