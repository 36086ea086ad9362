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

// ticker changes k elements of the page at a given rate, a given number of times. It writes the time of the change, by the page's clock,
// into the first of them. Its promise resolves with the main thread's own time in seconds.
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

// load holds the parameters of one row.
type load struct {
	elements, changes, hz int
}

// rounds is how often a row is measured unwatched and watched, in turns. Short-term variations of the machine last seconds.
const rounds = 3

// ticks returns how often the page changes in one round: about two seconds' worth, and at least twice.
func (l load) ticks() int { return max(2, min(90, 2*l.hz)) }

// BenchmarkWatch measures several figures for pages of three sizes that change in nine ways: the time from a change in the page to the
// client of WatchDom, and from the change to the page's own patch, against R; the cost of watching for the page's main thread, against the
// page's own work, as a median and range of several rounds; the bytes that the browser sends for a changed element, and those in excess of
// one empty binding call per tick; and the cost for the daemon's process, which is separate from the client's.
func BenchmarkWatch(b *testing.B) {
	s := newSiteApart(b)
	tab := s.page("", 1000)
	tree := s.axTree()
	b.Logf("R = %v, getFullAXTree of 1,000 elements = %v, an empty binding call = %.0f bytes", s.floor().RoundTrip, tree, s.envelope())
	b.Logf("%8s %7s %3s %8s %7s %7s %8s %8s %9s %8s %8s %14s %8s %8s %8s", "elements", "changes", "Hz", "p50 ms", "p50/R", "p99/R", "page p50", "page p99",
		"page ms/s", "added", "added %", "(range)", "B/change", "payload", "Go ms/s")
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

// figures holds the results of a round.
type figures struct {
	// late is the time from a change to the client. written is the time from a change to the page's patch.
	late, written times
	alone, added  float64 // time of the main thread, in ms per second
	received      int64
	cpu, wall     time.Duration
}

// row measures one load in several rounds on a fresh document.
func (s *apart) row(b *testing.B, tab string, l load) {
	s.b = b
	s.page(tab, l.elements)
	s.interactive(tab)
	floor, envelope := s.floor().RoundTrip, s.envelope()
	var all figures
	var alone, added, shares []float64
	for range rounds {
		f := s.round(b, tab, l)
		all.late, all.written = append(all.late, f.late...), append(all.written, f.written...)
		all.received, all.cpu, all.wall = all.received+f.received, all.cpu+f.cpu, all.wall+f.wall
		alone, added, shares = append(alone, f.alone), append(added, f.added), append(shares, 100*f.added/f.alone)
	}
	for _, list := range [][]float64{alone, added, shares} {
		slices.Sort(list)
	}
	slices.Sort(all.late)
	slices.Sort(all.written)
	against := func(d time.Duration) float64 { return float64(d) / float64(floor) }
	ticks, changes, cpu := float64(rounds*l.ticks()), float64(l.changes), 1000*float64(all.cpu)/float64(all.wall)
	b.Logf("%8d %7d %3d %8.2f %7.1f %7.1f %8.1f %8.1f %9.1f %8.1f %8.1f %14s %8.0f %8.0f %8.1f", l.elements, l.changes, l.hz,
		ms(all.late.at(50)), against(all.late.at(50)), against(all.late.at(99)), against(all.written.at(50)), against(all.written.at(99)),
		alone[rounds/2], added[rounds/2], shares[rounds/2], fmt.Sprintf("(%.0f…%.0f)", shares[0], shares[rounds-1]),
		float64(all.received)/ticks/changes, (float64(all.received)/ticks-envelope)/changes, cpu)
	b.ReportMetric(against(all.late.at(50)), "p50/R")
	b.ReportMetric(against(all.late.at(99)), "p99/R")
	b.ReportMetric(shares[rounds/2], "added%")
	b.ReportMetric(cpu, "go-ms/s")
}

// round measures one load once, unwatched and then watched.
func (s *apart) round(b *testing.B, tab string, l load) (f figures) {
	alone := s.tick(l, nil)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stream, err := s.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		b.Fatal(err)
	}
	offset := s.floor().Offset
	done := make(chan usage, 1)
	go func() {
		done <- s.tick(l, func() {
			costs := s.costs()
			f.received, f.cpu = costs.Received-f.received, costs.Processor-f.cpu
		})
	}()
	for len(f.late) < l.ticks() {
		late, written, changes := latency(b, stream, offset)
		for range changes {
			f.late, f.written = append(f.late, late), append(f.written, written)
		}
	}
	watched := <-done
	f.wall, f.alone = watched.wall, alone.share()
	f.added = watched.share() - f.alone
	return f
}

// envelope returns how many bytes the browser sends when a page calls a binding with an empty string. It is the minimum for a push.
func (s *apart) envelope() float64 {
	if err := s.cdp(s.b.Context(), "Runtime.addBinding", map[string]any{"name": envelopeBinding}, nil); err != nil {
		s.b.Fatal(err)
	}
	received := func(expression string) int {
		before := s.costs().Received
		evaluate[int](s.site, expression)
		return int(s.costs().Received - before)
	}
	return float64(received(envelopeBinding+"(''), 1") - received("1"))
}

// envelopeBinding is as long as the name of the agent's own binding.
const envelopeBinding = "__benchmark_"

// usage is the busy time of the page's main thread in a period.
type usage struct {
	busy, wall time.Duration
}

// share returns the busy time in milliseconds per second.
func (u usage) share() float64 { return 1000 * float64(u.busy) / float64(u.wall) }

// tick makes the page change and returns the usage of its main thread during that time. around is called immediately before and after.
func (s *site) tick(l load, around func()) usage {
	ctx := s.b.Context()
	if around == nil {
		around = func() {}
	}
	before := s.threadTime()
	around()
	start := time.Now()
	params := map[string]any{"expression": fmt.Sprintf("(%s)(%d, %d, %d)", ticker, l.changes, l.hz, l.ticks()), "awaitPromise": true}
	if err := s.cdp(ctx, "Runtime.evaluate", params, nil); err != nil {
		s.b.Error(err)
	}
	wall := time.Since(start)
	around()
	return usage{s.threadTime() - before, wall}
}

// threadTime returns the processor time of the page's main thread.
func (s *site) threadTime() time.Duration {
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
		if m.Name == "ThreadTime" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	s.b.Error("the browser does not say how long its main thread was busy")
	return 0
}

// clockOffset returns how far the page's clock is ahead of ours, measured by the fastest of many queries.
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

// latency waits for the next message with changes. It returns the age of the oldest change, the time from that change to the page's patch,
// and the number of changes.
func latency(b *testing.B, stream domtapv1.DomService_WatchDomClient, offset time.Duration) (late, written time.Duration, changes int) {
	for {
		m, err := stream.Recv()
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		if ages := stamps(m, now.Add(offset)); len(ages) > 0 {
			return slices.Max(ages), slices.Max(stamps(m, m.GetPageTime().AsTime())), len(ages)
		}
	}
}
