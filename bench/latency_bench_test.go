package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkLatencies measures the waiting times of a client. Each figure is in milliseconds, and as a ratio to R, a trivial round trip to
// the page, and to C, a raw columnar walk of the same page, both from the same run. The pages are the .html files of the folder
// $DOMTAP_PAGES, or one page of 1,000 elements. Each row takes its own samples. Run it with
//
//	go test ./bench -run='^$' -bench=Latencies -benchtime=1x -count=5
func BenchmarkLatencies(b *testing.B) {
	s := newSite(b)
	urls := []string{s.url + "/page/1000"}
	if os.Getenv("DOMTAP_PAGES") != "" {
		urls = nil
		url, files := savedPages(b)
		for _, file := range files {
			urls = append(urls, url+"/"+filepath.Base(file))
		}
	}
	b.Run("page-again", func(b *testing.B) { s.latency(b, urls, 10, 0, true) })
	b.Run("page-first-after-150ms", func(b *testing.B) { s.latency(b, urls, 3, 150*time.Millisecond, false) })
	b.Run("page-first-at-once", func(b *testing.B) { s.latency(b, urls, 3, 0, false) })
	b.Run("10000-elements-first", func(b *testing.B) { s.latency(b, []string{s.url + "/page/10000"}, 8, 0, false) })
	b.Run("open-until-loaded", s.opening)
	for _, controls := range []int{20, 1000} {
		b.Run(fmt.Sprintf("click-%d-controls", controls), func(b *testing.B) { s.clicking(b, controls) })
	}
	b.Run("change-pushed", s.pushing)
}

// latency reads each page a number of times: after a pause since its load, or again while it is idle.
func (s *site) latency(b *testing.B, urls []string, times int, pause time.Duration, again bool) {
	s.b = b
	tab := s.Open(urls[0])
	defer s.close(tab)
	var took, raw, thread []time.Duration
	for b.Loop() {
		for _, url := range urls {
			if again {
				s.load(tab, url)
				s.interactive(tab)
				time.Sleep(rest) // until the page has drawn its content and recorded its rows
			}
			for range times {
				if !again {
					s.load(tab, url)
					time.Sleep(pause)
				}
				used, start := mainThreads(s.Browser.PID()), time.Now()
				s.interactive(tab)
				took = append(took, time.Since(start))
				thread = append(thread, since(used, mainThreads(s.Browser.PID())))
			}
			raw = append(raw, s.columnar())
		}
	}
	s.report(b, took)
	b.ReportMetric(ms(median(thread)), "thread-ms")
	b.ReportMetric(float64(median(took))/float64(median(raw)), "C")
}

// opening measures opening a page of 300 elements in a new tab.
func (s *site) opening(b *testing.B) {
	s.b = b
	var took []time.Duration
	for b.Loop() {
		for range 10 {
			start := time.Now()
			tab := s.Open(s.url + "/page/300")
			took = append(took, time.Since(start))
			s.close(tab)
		}
	}
	s.page("", 300)
	s.report(b, took)
}

// clicking measures clicks on a button whose handler replaces the previous row with a new one, so that the page keeps its size.
func (s *site) clicking(b *testing.B, controls int) {
	s.b = b
	page := "<!doctype html><title>Small</title><button id=go>Go</button>"
	for i := range controls - 2 {
		page += " <button>Control " + strconv.Itoa(i) + "</button>"
	}
	page += `<div id=rows></div><script>let n = 0; go.onclick = () => { rows.innerHTML = "<button>Row " + ++n + "</button>" }</script>`
	tab := s.Open(testenv.Serve(b, serve(page)))
	defer s.close(tab)
	ref := s.interactive(tab).GetElements()[0].GetRef()
	click := &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{
		Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}}}
	var took, thread []time.Duration
	for b.Loop() {
		for range 60 {
			used, start := mainThreads(s.Browser.PID()), time.Now()
			r, err := s.Actions.Interact(b.Context(), click)
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			if len(r.GetDiff().GetAdded()) != 1 {
				b.Fatalf("the answer has not the row: %v", r)
			}
			time.Sleep(time.Duration(23+rand.IntN(17)) * time.Millisecond)
			thread = append(thread, since(used, mainThreads(s.Browser.PID())))
		}
	}
	s.report(b, took)
	b.ReportMetric(ms(median(thread)), "thread-ms")
}

// pushing measures the time from a change of one element among 1,000 to the watching client.
func (s *site) pushing(b *testing.B) {
	s.b = b
	tab := s.page("", 1000)
	defer s.close(tab)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stream, err := s.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil { // reads the initial page, so that it does not include the first change
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		const changes = 60
		params := map[string]any{"expression": fmt.Sprintf("void (%s)(1, 10, %d)", ticker, changes)}
		if err := s.cdp(b.Context(), "Runtime.evaluate", params, nil); err != nil {
			b.Fatal(err)
		}
		for n := 0; n < changes; {
			m, err := stream.Recv()
			if err != nil {
				b.Fatal(err)
			}
			late := stamps(m, time.Now())
			took = append(took, late...)
			n += len(late)
		}
	}
	s.report(b, took)
}

// load navigates a tab.
func (s *site) load(tab, url string) {
	s.b.Helper()
	if _, err := s.Tabs.Navigate(s.b.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
		s.b.Fatal(err)
	}
}

func (s *site) close(tab string) {
	s.b.Helper()
	if _, err := s.Tabs.CloseTab(context.WithoutCancel(s.b.Context()), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
		s.b.Error(err)
	}
}

// report reports the median of a figure, and its ratio to R of the page that was opened last.
func (s *site) report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	middle := times(took).at(50)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(middle), "ms")
	b.ReportMetric(ms(times(took).at(90)), "ms-p90")
	b.ReportMetric(float64(middle)/float64(s.roundTrip()), "R")
}
