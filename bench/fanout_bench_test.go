package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// BenchmarkWatchersOfAPage measures the median time from a change in a page of a real browser to its readers, with a thousand readers on
// four connections against one reader. The daemon runs in a separate process. The readers share the process and the cores of the benchmark.
func BenchmarkWatchersOfAPage(b *testing.B) {
	s := newSiteApart(b)
	tab := s.page("", 200)
	load := load{elements: 200, changes: 1, hz: 5}
	for b.Loop() {
		one := s.measureReaders(b, tab, 1, load)
		thousand := s.measureReaders(b, tab, 1000, load)
		ratio(b, "1000/1-p50", thousand.at(50), one.at(50), 5)
		ratio(b, "1000/1-p99", thousand.at(99), one.at(99), 20)
		b.Logf("R = %v, to one p50 %v p99 %v, to each of 1000 p50 %v p99 %v", s.floor().RoundTrip, one.at(50), one.at(99), thousand.at(50), thousand.at(99))
	}
}

// measureReaders makes a number of readers watch a changing page. It returns the delays of all messages to all readers, sorted.
func (s *apart) measureReaders(b *testing.B, tab string, readers int, l load) times {
	b.Helper()
	s.page(tab, l.elements)
	offset := s.floor().Offset
	var mu sync.Mutex
	var seen times
	a := newReaderGroup(b, readers, s.socket, tab)
	for i, stream := range a.streams {
		a.running.Go(func() {
			took := make(times, 0, l.ticks())
			for len(took) < l.ticks() {
				m, err := stream.Recv()
				now := time.Now()
				if err != nil {
					b.Errorf("reader %d: %v", i, err)
					return
				}
				took = append(took, stamps(m, now.Add(offset))...)
			}
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, took...)
		})
	}
	s.tick(l, nil)
	a.running.Wait()
	a.leave()
	if len(seen) != readers*l.ticks() {
		b.Fatalf("%d messages, not %d", len(seen), readers*l.ticks())
	}
	slices.Sort(seen)
	return seen
}

// stamps returns the ages of the changes in a message, by the page's clock.
func stamps(m *domtapv1.WatchDomResponse, now time.Time) times {
	var ages times
	for _, e := range m.GetDiff().GetAdded() {
		if stamp, found := strings.CutPrefix(e.GetText(), "stamp "); found {
			ms, err := strconv.ParseFloat(stamp, 64)
			if err != nil {
				panic(fmt.Sprintf("the page wrote %q", e.GetText()))
			}
			ages = append(ages, now.Sub(time.UnixMicro(int64(ms*1000))))
		}
	}
	return ages
}
