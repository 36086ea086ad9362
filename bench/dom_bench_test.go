package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const elements = 10_000

// BenchmarkFirstGetDom is the first full GetDom of a document of 10,000 elements, against C (a raw
// columnar evaluate) and the accessibility tree. All are measured cold, each on a fresh document, and C also
// warm, which no first call can be.
func BenchmarkFirstGetDom(b *testing.B) {
	s := newSite(b)
	tab := s.page("", elements)
	var first, cold, warm, ax times
	for b.Loop() {
		s.page(tab, elements)
		ax = append(ax, s.axTree())
		s.page(tab, elements)
		cold = append(cold, s.columnar())
		for range 5 {
			warm = append(warm, s.columnar())
		}
		s.page(tab, elements)
		start := time.Now()
		if n := len(s.interactive(tab).GetElements()); n != elements/2 {
			b.Fatalf("%d elements, want %d", n, elements/2)
		}
		first = append(first, time.Since(start))
	}
	for _, t := range []times{first, cold, warm, ax} {
		slices.Sort(t)
	}
	ratio(b, "first/C-cold", first.at(50), cold.at(50), 2)
	ratio(b, "first/C-warm", first.at(50), warm.at(50), 2)
	ratio(b, "first/AX", first.at(50), ax.at(50), 1.0/8)
}

// BenchmarkUnchangedGetDom is a full GetDom of a document that did not change, less what the same answer
// costs from a server that has it ready (encoding, sending, decoding), against R.
func BenchmarkUnchangedGetDom(b *testing.B) {
	s := newSite(b)
	tab := s.page("", elements)
	answer := s.interactive(tab)
	var got times
	for b.Loop() {
		start := time.Now()
		s.interactive(tab)
		got = append(got, time.Since(start))
	}
	slices.Sort(got)
	encoding := echo(b, answer)
	b.Logf("the answer has %d bytes; sending and decoding one that lies ready takes %v of %v", proto.Size(answer), encoding, got.at(50))
	ratio(b, "unchanged/R", got.at(50)-encoding, s.roundTrip(), 10)
	compact := sample(100, func() {
		if _, err := s.Dom.GetCompact(b.Context(), &domtapv1.GetCompactRequest{TabId: tab}); err != nil {
			b.Fatal(err)
		}
	})
	ratio(b, "compact/R", compact.at(50), s.roundTrip(), 10)
}

// ticker changes k elements of the page at a rate and writes the time of the change, by the page's
// clock, into the first of them.
const ticker = `(k, hz) => {
  clearInterval(window.ticking);
  const items = [...document.querySelectorAll('button')];
  let n = 0;
  window.ticking = setInterval(() => {
    n++;
    const base = (n * 131) % (items.length - k);
    for (let i = 1; i < k; i++) items[base + i].textContent = 'Item ' + n + ' ' + i;
    items[base].textContent = 'stamp ' + (performance.timeOrigin + performance.now()).toFixed(3);
  }, 1000 / hz);
}`

// BenchmarkWatch is the time from a change in the page to the client of WatchDom, against R.
func BenchmarkWatch(b *testing.B) {
	s := newSite(b)
	tab := s.page("", elements)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stream, err := s.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		b.Fatal(err)
	}
	floor := s.roundTrip()
	for _, k := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("changes=%d", k), func(b *testing.B) {
			offset := clockOffset(s)
			evaluate[int](s, fmt.Sprintf("(%s)(%d, 10), 1", ticker, k))
			var seen times
			for b.Loop() {
				seen = append(seen, latency(b, stream, offset))
			}
			evaluate[int](s, "clearInterval(window.ticking), 1")
			slices.Sort(seen)
			ratio(b, "p50/R", seen.at(50), floor, 20)
			ratio(b, "p99/R", seen.at(99), floor, 100)
			b.Logf("%d changes seen", len(seen))
		})
	}
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

// latency waits for the next change and says how long ago the page made it.
func latency(b *testing.B, stream domtapv1.DomService_WatchDomClient, offset time.Duration) time.Duration {
	for {
		m, err := stream.Recv()
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		for _, e := range m.GetDiff().GetAdded() {
			stamp, found := strings.CutPrefix(e.GetText(), "stamp ")
			if !found {
				continue
			}
			ms, err := strconv.ParseFloat(stamp, 64)
			if err != nil {
				b.Fatal(err)
			}
			return now.Sub(time.UnixMicro(int64(ms * 1000)).Add(-offset))
		}
	}
}
