package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkApplications measures the time of a page's main thread for adding a hundred todo items, checking a hundred and removing eighty,
// next to 6,000 other elements. It compares the page while watched with the same page while not watched; the two take turns. React changes
// only what differs; plain rewrites all of its HTML at every change.
func BenchmarkApplications(b *testing.B) {
	for _, app := range []struct {
		name   string
		target float64
	}{{"react", 1.10}, {"plain", 1.50}} {
		b.Run(app.name, func(b *testing.B) {
			d := testenv.StartDaemon(b)
			s := &site{Daemon: d, b: b, cdp: newest(d), url: testenv.Serve(b, testenv.Apps(b, HTML(6000)))}
			tab := d.Open(s.url + "/" + app.name + "?beside=1")
			enable := map[string]any{"timeDomain": "threadTicks"}
			if err := d.Browser.Newest().Call(b.Context(), "Performance.enable", enable, nil); err != nil {
				b.Fatal(err)
			}
			s.workload() // this compiles the code
			var alone, watched times
			for b.Loop() {
				alone = append(alone, s.workload())
				release := s.watch(tab)
				watched = append(watched, s.workload())
				release()
			}
			slices.Sort(alone)
			slices.Sort(watched)
			ratio(b, app.name, watched.at(50), alone.at(50), app.target)
			b.Logf("%d runs each, alone %v to %v, watched %v to %v", len(alone), alone[0], alone[len(alone)-1], watched[0], watched[len(watched)-1])
		})
	}
}

// watch starts a stream of all interactive elements and reads it until release is called. It returns after the first snapshot.
func (s *site) watch(tab string) (release func()) {
	s.b.Helper()
	return s.stream(&domtapv1.WatchDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
}

// stream is like watch, with a custom request.
func (s *site) stream(r *domtapv1.WatchDomRequest) (release func()) {
	s.b.Helper()
	ctx, cancel := context.WithCancel(s.b.Context())
	stream, err := s.Dom.WatchDom(ctx, r)
	if err != nil {
		s.b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		s.b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// workload runs window.workload of e2e/apps/shared/todo-driver.js and returns the busy time of the main thread, including the two frames
// after it.
func (s *site) workload() time.Duration {
	s.b.Helper()
	before := s.busy()
	params := map[string]any{"awaitPromise": true, "returnByValue": true, "expression": `workload().then((left) =>
		new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 0, left)))))`}
	var out evaluated[int]
	if err := s.Browser.Newest().Call(s.b.Context(), "Runtime.evaluate", params, &out); err != nil {
		s.b.Fatal(err)
	}
	if out.Result.Value != 20 {
		s.b.Fatalf("%d things are left, not 20", out.Result.Value)
	}
	return s.busy() - before
}

// busy returns the total time for which the page's main thread was busy with tasks, by its own clock.
func (s *site) busy() time.Duration {
	s.b.Helper()
	var out struct {
		Metrics []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"metrics"`
	}
	if err := s.Browser.Newest().Call(s.b.Context(), "Performance.getMetrics", nil, &out); err != nil {
		s.b.Fatal(err)
	}
	for _, m := range out.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	s.b.Fatal("the browser does not say how long it was busy")
	return 0
}
