package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// Targets from limits.md, section 9. They were measured on one core. Ratios to the times without domtap ("raw") are valid on any machine.
const (
	coldSession   = 250 * time.Millisecond
	warmSession   = 135 * time.Millisecond
	sessionMemory = 35.0 // MB
	sessionPage   = 300
)

// BenchmarkSessions creates isolated sessions, each with a tab that shows a page of 300 elements, with and without sessions that are kept
// warm. It alternates with the same operations without domtap, and compares the times.
func BenchmarkSessions(b *testing.B) {
	s := newSite(b)
	url := fmt.Sprintf("%s/page/%d", s.url, sessionPage)
	s.page("", sessionPage) // the cold start of the browser is not part of a session
	r := s.roundTrip()
	var raw, cold, warm []time.Duration
	n := max(b.N, 8)
	for range n {
		raw = append(raw, s.rawSession(url))
		cold = append(cold, s.session(url, nil))
	}
	s.Browser.KeepWarm(1)
	s.session(url, nil) // the first request warms the next session
	for range n {
		warm = append(warm, s.session(url, func() { s.awaitWarm() }))
	}
	s.Browser.KeepWarm(0)
	floor, first, next := median(raw), median(cold), median(warm)
	verdict(b, "cold", first, coldSession, floor, r)
	verdict(b, "warm", next, warmSession, floor, r)
	b.Logf("%-6s %v raw context, target, load", "floor", floor.Round(time.Millisecond))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(s.memory(url, 6), "MB/session")
}

// verdict prints a duration and its ratios.
func verdict(b *testing.B, name string, got, target, floor, r time.Duration) {
	b.Helper()
	word := "ok"
	if got > target {
		word = "MISSED"
	}
	b.Logf("%-6s %v (target %v, %s) = %.2f raw = %.0f R", name, got.Round(time.Millisecond), target, word, float64(got)/float64(floor), float64(got)/float64(r))
	b.ReportMetric(float64(got)/1e6, name+"-ms")
	b.ReportMetric(float64(got)/float64(floor), name+"/raw")
}

func median(all []time.Duration) time.Duration {
	return times(slices.Sorted(slices.Values(all))).at(50)
}

// session creates a session with a tab and closes it. before runs outside the measured time.
func (s *site) session(url string, before func()) time.Duration {
	s.b.Helper()
	if before != nil {
		before()
	}
	start := time.Now()
	id := s.makeSession(url)
	took := time.Since(start)
	s.closeSession(id)
	return took
}

func (s *site) makeSession(url string) string {
	s.b.Helper()
	made, err := s.Sessions.CreateSession(s.b.Context(), &domtapv1.CreateSessionRequest{})
	if err != nil {
		s.b.Fatal(err)
	}
	id := made.GetSession().GetId()
	if _, err := s.Tabs.OpenTab(s.b.Context(), &domtapv1.OpenTabRequest{SessionId: id, Url: url}); err != nil {
		s.b.Fatal(err)
	}
	return id
}

func (s *site) closeSession(id string) {
	s.b.Helper()
	if _, err := s.Sessions.CloseSession(s.b.Context(), &domtapv1.CloseSessionRequest{SessionId: id}); err != nil {
		s.b.Fatal(err)
	}
}

// awaitWarm waits until a warm session was seen ready in 25 checks, 20 ms apart, which gives the browser time to become idle.
func (s *site) awaitWarm() {
	s.b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for calm := 0; calm < 25; {
		<-tick.C
		if s.Browser.Warm() > 0 {
			calm++
		}
	}
}

// rawSession performs the browser's own commands for a session with a tab.
func (s *site) rawSession(url string) time.Duration {
	s.b.Helper()
	ctx := s.b.Context()
	call := func(session, method string, params, result any) {
		s.b.Helper()
		if err := s.Browser.Call(ctx, session, method, params, result); err != nil {
			s.b.Fatal(err)
		}
	}
	start := time.Now()
	var made struct {
		ID string `json:"browserContextId"`
	}
	call("", "Target.createBrowserContext", struct{}{}, &made)
	var opened struct {
		ID string `json:"targetId"`
	}
	call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": made.ID}, &opened)
	var attached struct {
		ID string `json:"sessionId"`
	}
	call("", "Target.attachToTarget", map[string]any{"targetId": opened.ID, "flatten": true}, &attached)
	call(attached.ID, "Page.navigate", map[string]any{"url": url}, nil)
	call(attached.ID, "Runtime.evaluate", map[string]any{"awaitPromise": true,
		"expression": `document.readyState === 'complete' || new Promise(done => addEventListener('load', done))`}, nil)
	took := time.Since(start)
	call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": made.ID}, nil)
	return took
}

// memory prints the cost of a session with a tab in all processes of the browser, with shared pages counted proportionally.
func (s *site) memory(url string, n int) float64 {
	s.b.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	before := pss(s.b, s.Browser.PID())
	var open []string
	for range n {
		open = append(open, s.makeSession(url))
	}
	each := (settled(s.b, s.Browser.PID()) - before) / float64(n)
	for _, id := range open {
		s.closeSession(id)
	}
	word := "ok"
	if each > sessionMemory {
		word = "MISSED"
	}
	s.b.Logf("%-6s %.1f MB a session with a tab of %d elements (target %.0f, %s)", "memory", each, sessionPage, sessionMemory, word)
	return each
}

// settled returns the memory of a browser after it has stopped falling, in MB.
func settled(b testing.TB, browser int) float64 {
	b.Helper()
	last := pss(b, browser)
	for {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		<-ctx.Done()
		cancel()
		now := pss(b, browser)
		if now > last-1 {
			return now
		}
		last = now
	}
}

// pss returns the memory of all processes of a browser in MB, given its first process. Program files count proportionally.
func pss(b testing.TB, browser int) float64 {
	b.Helper()
	return memoryOf(b, browser, "Pss:")
}

// memoryOf returns the sum of some rows of smaps_rollup over all processes of a browser, in MB.
func memoryOf(b testing.TB, browser int, rows ...string) float64 {
	b.Helper()
	total := 0.0
	for _, pid := range testenv.Group(browser) {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for row := range bytes.Lines(rollup) {
			if fields := bytes.Fields(row); len(fields) > 1 && slices.Contains(rows, string(fields[0])) {
				if kb, err := strconv.ParseFloat(string(fields[1]), 64); err == nil {
					total += kb / 1024
				}
			}
		}
	}
	return total
}
