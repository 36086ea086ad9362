package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// ticker changes k elements of the page at a rate, so many times, and writes the time of the change, by the
// page's clock, into the first of them. Its promise is fulfilled by the main thread's own time, in seconds.
const ticker = `(k, hz, times) => new Promise((done) => {
  const items = [...document.querySelectorAll('button')];
  let n = 0;
  const ticking = setInterval(() => {
    n++;
    const base = (n * 131) % (items.length - k);
    for (let i = 1; i < k; i++) items[base + i].textContent = 'Item ' + n + ' ' + i;
    items[base].textContent = 'stamp ' + (performance.timeOrigin + performance.now()).toFixed(3);
    if (n === times) {
      clearInterval(ticking);
      done(n);
    }
  }, 1000 / hz);
})`

// load is one row of the stream's figures.
type load struct {
	elements, changes, hz int
}

// ticks is how often the page changes in one row: at least twenty times where that takes not too long.
func (l load) ticks() int { return max(6, min(180, 5*l.hz)) }

// BenchmarkWatch is the time from a change in the page to the client of WatchDom, against R, what watching
// costs the page's main thread, against what the page takes by itself, and what it costs the daemon's process, which
// is another than the client's, for pages of three sizes that change in nine ways.
func BenchmarkWatch(b *testing.B) {
	s := newSiteApart(b)
	tab := s.page("", 1000)
	tree := s.axTree()
	b.Logf("R = %v, getFullAXTree of 1,000 elements = %v", s.floor().RoundTrip, tree)
	b.Logf("%8s %7s %3s %8s %8s %8s %8s %9s %9s %8s %8s", "elements", "changes", "Hz", "p50 ms", "p50/R", "p99 ms", "p99/R", "page ms/s", "added %%", "B/change", "Go ms/s")
	for _, n := range []int{1000, 10_000, 50_000} {
		for _, k := range []int{1, 10, 100} {
			for _, hz := range []int{1, 10, 60} {
				l := load{n, k, hz}
				b.Run(fmt.Sprintf("elements=%d/changes=%d/hz=%d", n, k, hz), func(b *testing.B) {
					for b.Loop() {
						s.row(b, tab, l)
					}
				})
			}
		}
	}
}

// row measures one load, unwatched and watched, on a fresh document.
func (s *apart) row(b *testing.B, tab string, l load) {
	s.b = b
	s.page(tab, l.elements)
	s.interactive(tab)
	alone := s.tick(l)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stream, err := s.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		b.Fatal(err)
	}
	f, before := s.floor(), s.costs()
	done := make(chan usage, 1)
	go func() { done <- s.tick(l) }()
	seen := make(times, 0, l.ticks())
	for len(seen) < l.ticks() {
		late, changes := latency(b, stream, f.Offset)
		for range changes {
			seen = append(seen, late)
		}
	}
	watched := <-done
	after := s.costs()
	floor, bytes, cpu := f.RoundTrip, after.Received-before.Received, after.Processor-before.Processor
	slices.Sort(seen)
	added := 100 * (float64(watched.busy)/float64(watched.wall)/(float64(alone.busy)/float64(alone.wall)) - 1)
	b.Logf("%8d %7d %3d %8.2f %8.1f %8.2f %8.1f %9.1f %9.1f %8.0f %8.1f", l.elements, l.changes, l.hz,
		ms(seen.at(50)), float64(seen.at(50))/float64(floor), ms(seen.at(99)), float64(seen.at(99))/float64(floor),
		1000*float64(watched.busy)/float64(watched.wall), added, float64(bytes)/float64(l.ticks()*l.changes), 1000*float64(cpu)/float64(watched.wall))
	b.ReportMetric(float64(seen.at(50))/float64(floor), "p50/R")
	b.ReportMetric(float64(seen.at(99))/float64(floor), "p99/R")
	b.ReportMetric(added, "added%")
	b.ReportMetric(1000*float64(cpu)/float64(watched.wall), "go-ms/s")
}

// usage is what the page's main thread did in a time.
type usage struct {
	busy, wall time.Duration
}

// tick lets the page change itself, and returns what its main thread did meanwhile.
func (s *site) tick(l load) usage {
	ctx := s.b.Context()
	before, start := s.taskTime(), time.Now()
	params := map[string]any{"expression": fmt.Sprintf("(%s)(%d, %d, %d)", ticker, l.changes, l.hz, l.ticks()), "awaitPromise": true}
	if err := s.cdp(ctx, "Runtime.evaluate", params, nil); err != nil {
		s.b.Error(err)
	}
	return usage{s.taskTime() - before, time.Since(start)}
}

// taskTime is how long the page's main thread has been busy.
func (s *site) taskTime() time.Duration {
	ctx := s.b.Context()
	if err := s.cdp(ctx, "Performance.enable", struct{}{}, nil); err != nil {
		s.b.Error(err)
	}
	var raw json.RawMessage
	if err := s.cdp(ctx, "Performance.getMetrics", struct{}{}, &raw); err != nil {
		s.b.Error(err)
	}
	var answer struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		s.b.Error(err)
	}
	for _, m := range answer.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	s.b.Error("the browser does not say how long its main thread was busy")
	return 0
}

// clockOffset is what the page's clock shows more than ours, by the quickest of many questions.
func clockOffset(s *site) time.Duration {
	best, offset := time.Hour, time.Duration(0)
	for range 100 {
		before := time.Now()
		page := evaluate[float64](s, "performance.timeOrigin + performance.now()")
		trip := time.Since(before)
		if trip < best {
			best = trip
			offset = time.UnixMicro(int64(page * 1000)).Sub(before.Add(trip / 2))
		}
	}
	return offset
}

// latency waits for the next message with changes, and says how long ago the page made the newest of them and
// how many there were: a message may hold several, of which the earlier ones waited longer.
func latency(b *testing.B, stream domtapv1.DomService_WatchDomClient, offset time.Duration) (late time.Duration, changes int) {
	for {
		m, err := stream.Recv()
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		if ages := stamps(m, now.Add(offset)); len(ages) > 0 {
			return slices.Max(ages), len(ages)
		}
	}
}
