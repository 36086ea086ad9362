package bench

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const elements = 10_000

// BenchmarkFirstGetDom measures the first full GetDom of a document of 10,000 elements, against C (a raw columnar evaluate) and the
// accessibility tree. All are measured cold, each on a fresh document. C is also measured warm, which is impossible for a first call.
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

// BenchmarkUnchangedGetDom measures a full GetDom of an unchanged document against R. It subtracts the time that a server with the
// same answer ready takes to encode and send it, and the client to decode it.
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

// BenchmarkFirstReadOfALoadedPage measures the first GetCompact of a document of 1,000 elements with default options against C and R. The
// call is made 150 ms after the document was loaded, and immediately after it.
func BenchmarkFirstReadOfALoadedPage(b *testing.B) {
	const size = 1000
	s := newSite(b)
	tab := s.page("", size)
	read := func(pause time.Duration) time.Duration {
		s.page(tab, size)
		time.Sleep(pause)
		start := time.Now()
		if _, err := s.Dom.GetCompact(b.Context(), &domtapv1.GetCompactRequest{TabId: tab}); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var later, atOnce, raw times
	for b.Loop() {
		later = append(later, read(150*time.Millisecond))
		for range 3 {
			raw = append(raw, s.columnar())
		}
		atOnce = append(atOnce, read(0))
	}
	for _, t := range []times{later, atOnce, raw} {
		slices.Sort(t)
	}
	b.Logf("150 ms after load %v (p10 %v, p90 %v), at once %v (p10 %v, p90 %v)", later.at(50), later.at(10), later.at(90), atOnce.at(50), atOnce.at(10), atOnce.at(90))
	ratio(b, "later/C", later.at(50), raw.at(50), 3)
	ratio(b, "later/R", later.at(50), s.roundTrip(), 75)
	ratio(b, "at-once/C", atOnce.at(50), raw.at(50), 10)
}
