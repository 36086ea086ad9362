package usage

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// doors reports everything as open except its keys.
type doors map[string]bool

func (d doors) HasSession(id string) bool { return !d[id] }
func (d doors) HasTab(id string) bool     { return !d[id] }

func TestWhatIsEnteredCountsAtEveryLevel(t *testing.T) {
	closed := doors{}
	b := New(closed)
	one, two := Place{Session: "work", Tab: "t1"}, Place{Session: "work", Tab: "t10"}
	b.Series(one, "Get").Add(Entry{Calls: 1, Tokens: 100, Reads: Reads{Pages: 1}, Steps: []Step{{Kind: "click", Done: true, Healed: true}}})
	b.Series(two, "Get").Add(Entry{Calls: 2, Tokens: 10, Failure: "NOT_FOUND", Steps: []Step{{Kind: "click", Failed: "STALE_REF"}, {Kind: "click"}}})
	b.Series(Place{Session: "work", Tab: "t9"}, "Get").Add(Entry{Calls: 1})
	b.Series(Place{}, "List").Add(Entry{Calls: 1, Timed: true, Took: 3 * time.Microsecond})

	st := b.Report(Place{})
	want := Method{Name: "Get", Calls: 4, Tokens: 110, Failed: 1, Failures: map[string]int64{"NOT_FOUND": 1}}
	if got := st.Total.Methods[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := st.Total.Steps; !reflect.DeepEqual(got, []Steps{{Kind: "click", Done: 1, Healed: 1, Failed: 1, Skipped: 1, Failures: map[string]int64{"STALE_REF": 1}}}) {
		t.Errorf("got the steps %+v", got)
	}
	if st.Total.Reads.Pages != 1 || st.Total.Methods[1].Times.Quantile(0.5) != 3*time.Microsecond {
		t.Errorf("got %+v", st.Total)
	}
	var tabs []string
	for _, a := range st.Tabs {
		tabs = append(tabs, a.Tab)
	}
	if !slices.Equal(tabs, []string{"t1", "t9", "t10"}) || len(st.Sessions) != 1 || st.Sessions[0].Methods[0].Calls != 4 {
		t.Errorf("got the tabs %v and the sessions %+v", tabs, st.Sessions)
	}
	if got := b.Report(Place{Session: "other"}); len(got.Tabs)+len(got.Sessions)+len(got.Total.Methods) != 0 {
		t.Errorf("another session got %+v", got)
	}
	if got := b.Report(Place{Tab: "t10"}).Total; got.Methods[0].Tokens != 10 {
		t.Errorf("a tab got %+v", got)
	}
}

func TestWhatIsClosedStaysInTheAccountsAbove(t *testing.T) {
	closed := doors{}
	b := New(closed)
	p := Place{Session: "work", Tab: "t1"}
	b.Series(p, "Get").Add(Entry{Calls: 1})
	stream := b.Series(p, "Watch")
	closed["t1"] = true
	stream.Add(Entry{Messages: 5}) // the stream's last messages
	b.Series(p, "Close").Add(Entry{Calls: 1})
	st := b.Report(Place{})
	if len(st.Tabs) != 0 || len(st.Sessions) != 1 || len(st.Sessions[0].Methods) != 3 || st.Sessions[0].Methods[2].Messages != 5 {
		t.Errorf("got %+v", st)
	}
	closed["work"] = true
	b.Series(p, "Close").Add(Entry{Calls: 1})
	if st = b.Report(Place{}); len(st.Sessions) != 0 || st.Total.Methods[0].Calls != 2 || st.Total.Methods[2].Messages != 5 {
		t.Errorf("got %+v", st)
	}
	delete(closed, "work")
	if st = b.Report(Place{Session: "work"}); len(st.Total.Methods) != 0 {
		t.Errorf("a session of the same name begins with %+v", st.Total)
	}
	b.Series(Place{Session: "work"}, "Get").Add(Entry{Calls: 1})
	b.CloseSession("work")
	if st = b.Report(Place{Session: "work"}); len(st.Total.Methods) != 0 {
		t.Errorf("a session of the same name begins with %+v", st.Total)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	closed := doors{}
	b := New(closed)
	const n = MaxAccounts + 200
	for i := range n {
		p := Place{Session: "s" + strconv.Itoa(i), Tab: "t" + strconv.Itoa(i)}
		b.Series(p, "m"+strconv.Itoa(i)).Add(Entry{Calls: 1, Failure: "f" + strconv.Itoa(i), Steps: []Step{{Kind: "k" + strconv.Itoa(i)}}})
	}
	st := b.Report(Place{})
	if len(st.Tabs) != MaxAccounts || len(st.Sessions) != MaxAccounts {
		t.Errorf("%d tabs, %d sessions", len(st.Tabs), len(st.Sessions))
	}
	if len(st.Total.Methods) != maxRows+1 || len(st.Total.Steps) != maxRows+1 {
		t.Errorf("%d methods, %d kinds of steps", len(st.Total.Methods), len(st.Total.Steps))
	}
	calls := int64(0)
	for _, m := range st.Total.Methods {
		calls += m.Calls
	}
	if calls != n {
		t.Errorf("%d calls are left", calls)
	}
	for i := range n {
		closed["t"+strconv.Itoa(i)] = true
	}
	b.Series(Place{Tab: "new"}, "m").Add(Entry{})
	if len(b.tabs) != 1 {
		t.Errorf("%d accounts of tabs that are closed are left", len(b.tabs)-1)
	}
}

func TestManyMayEnterAtOnce(t *testing.T) {
	b := New(doors{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			line := b.Series(Place{Session: "s", Tab: fmt.Sprint("t", i%2)}, "Get")
			for n := range 1000 {
				line.Add(Entry{Calls: 1, Timed: true})
				if n%100 == 0 {
					b.Report(Place{})
				}
			}
		})
	}
	all.Wait()
	if m := b.Report(Place{}).Total.Methods[0]; m.Calls != 8000 || m.Times.Count() != 8000 {
		t.Errorf("got %d calls, %d times", m.Calls, m.Times.Count())
	}
}

// TestQuantilesAreCloseToTheRealOnes compares quantiles with the quantiles of the sorted durations.
func TestQuantilesAreCloseToTheRealOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"microseconds": func() time.Duration { return time.Duration(r.IntN(40)) * time.Microsecond },
		"skewed":       func() time.Duration { return time.Duration(r.ExpFloat64() * float64(3*time.Millisecond)) },
		"to hours":     func() time.Duration { return time.Duration(r.Int64N(int64(10 * time.Hour))) },
	} {
		var times Durations
		var all []time.Duration
		for range 5000 {
			d := draw()
			all = append(all, d)
			times.Add(d)
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
			real := all[max(0, int(q*float64(len(all)))-1)]
			got := times.Quantile(q)
			if off := (got - real).Abs(); off > real/15+time.Microsecond {
				t.Errorf("%s: the %g quantile is %v, want %v", name, q, got, real)
			}
		}
		if times.Max() != all[len(all)-1] || times.Count() != 5000 {
			t.Errorf("%s: max %v, count %d", name, times.Max(), times.Count())
		}
	}
}

func TestEveryDurationHasABucket(t *testing.T) {
	last := -1
	for us := int64(0); us < 1<<12; us++ {
		b := bucket(us)
		if b != last && b != last+1 {
			t.Fatalf("%d µs are in bucket %d, after %d", us, b, last)
		}
		last = b
		if m := middle(b); m < float64(us)*(1-1./15)-0.5 || m > float64(us)*(1+1./15)+0.5 {
			t.Errorf("bucket %d of %d µs stands for %g", b, us, m)
		}
	}
	var times Durations
	for _, d := range []time.Duration{-1, 0, 1, 1 << 62, 1<<63 - 1} {
		times.Add(d)
	}
	if times.Quantile(0) != 0 || times.Quantile(1) <= 24*time.Hour || new(Durations).Quantile(0.5) != 0 {
		t.Errorf("got %v to %v", times.Quantile(0), times.Quantile(1))
	}
}

func BenchmarkAdd(b *testing.B) {
	book := New(doors{})
	entry := Entry{Calls: 1, Messages: 1, Bytes: 1000, Tokens: 250, Full: 1000, Compared: 250, Timed: true, Took: time.Millisecond}
	for b.Loop() {
		book.Series(Place{Session: "default", Tab: "t1"}, "GetCompact").Add(entry)
	}
}

func BenchmarkAddToLine(b *testing.B) {
	line := New(doors{}).Series(Place{Session: "default", Tab: "t1"}, "WatchDom")
	for b.Loop() {
		line.Add(Entry{Messages: 1, Bytes: 1000, Estimated: 250})
	}
}

// Owner returns the part of a session's name before the dot.
func (d doors) Owner(session string) string {
	owner, _, _ := strings.Cut(session, ".")
	return owner
}

// TestDurationsTakeWhatTheyCover adds durations that are close to each other, and one distant duration.
func TestDurationsTakeWhatTheyCover(t *testing.T) {
	var times Durations
	for us := range 100 {
		times.Add(time.Duration(1000+us) * time.Microsecond)
	}
	copied := times.clone()
	if n := len(times.counts); n != fine && n != 2*fine {
		t.Errorf("durations of 1.0 to 1.1 ms take %d buckets", n)
	}
	times.Add(time.Microsecond)
	times.Add(time.Hour)
	if n := len(times.counts); n > buckets {
		t.Errorf("%d buckets of %d are kept", n, buckets)
	}
	if times.Quantile(0) != time.Microsecond || times.Quantile(1) != time.Hour {
		t.Errorf("the quantiles go from %v to %v", times.Quantile(0), times.Quantile(1))
	}
	if got := times.Quantile(0.5).Round(100 * time.Microsecond); got < time.Millisecond || got > 1200*time.Microsecond {
		t.Errorf("the median is %v", got)
	}
	if copied.Count() != 100 || copied.Quantile(0) < 900*time.Microsecond {
		t.Error("a copy changed with the original")
	}
}
