package main

import (
	"math"
	"sync"
	"time"
)

const (
	// finest is the upper end of the first bucket, and each bucket ends so much later than the one before: what is read
	// from a histogram is at most 2 % too long.
	finest = 10 * time.Microsecond
	step   = 1.02
	// buckets reach to about three minutes; what took longer is in the last one.
	buckets = 850
)

// histogram counts how long things took, in memory that does not grow.
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

// at returns the p-th percentile, or 0 when nothing was counted.
func (h *histogram) at(p float64) time.Duration {
	left := int(math.Ceil(float64(h.total) * p / 100))
	for i, n := range h.counts {
		if left -= n; left <= 0 && h.total > 0 {
			return min(h.most, time.Duration(float64(finest)*math.Pow(step, float64(i))))
		}
	}
	return 0
}

// stopwatch has a histogram of all times, and one of those since the last line.
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

// lap returns the recent times, and forgets them.
func (s *stopwatch) lap() histogram {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.recent
	s.recent = histogram{}
	return h
}

// whole returns all times.
func (s *stopwatch) whole() histogram {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
