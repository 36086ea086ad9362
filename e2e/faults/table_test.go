package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// fault is a possible fault of a browser.
type fault struct {
	name   string
	inject func(st *stage)
	// harmless faults crash no tab.
	harmless bool
	// slow faults are injected only in campaigns.
	slow bool
}

var browserFaults = []fault{
	{name: "renderer killed", inject: func(st *stage) { st.kill("renderer", syscall.SIGKILL) }},
	{name: "GPU process killed", inject: func(st *stage) { st.kill("GPU", syscall.SIGKILL) }, harmless: true, slow: true},
	{name: "browser killed", inject: func(st *stage) { signal(st, syscall.SIGKILL) }},
	{name: "browser hung (SIGSTOP)", inject: func(st *stage) { signal(st, syscall.SIGSTOP) }, slow: true},
}

// signal sends a signal to all processes of the browser.
func signal(st *stage, s syscall.Signal) {
	st.t.Helper()
	if err := syscall.Kill(-st.Newest(0).PID(), s); err != nil {
		st.t.Fatal(err)
	}
}

// row is a line of the table.
type row struct {
	fault          string
	injected       int
	streams, calls map[string]int
	longest        time.Duration
	recovery       []time.Duration
}

func newRow(name string) *row {
	return &row{fault: name, streams: map[string]int{}, calls: map[string]int{}}
}

func (r *row) add(s saw) {
	for code, n := range s.codes {
		r.calls[code] += n
	}
	r.longest = max(r.longest, s.longest)
	r.recovery = append(r.recovery, s.took)
}

// String returns the line for the test log.
func (r *row) String() string {
	slices.Sort(r.recovery)
	times := "-"
	if n := len(r.recovery); n > 0 {
		times = fmt.Sprintf("p50 %s, max %s", r.recovery[n/2].Round(time.Millisecond), r.recovery[n-1].Round(time.Millisecond))
	}
	return fmt.Sprintf("| %s | %d | %s | %s; longest %s | %s |", r.fault, r.injected, list(r.streams), list(r.calls), r.longest.Round(time.Millisecond), times)
}

func list(counts map[string]int) string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s (%d)", what, counts[what]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// TestRestoreAfterBrowserFaults injects faults while two tabs are open, one with restore and one without. A client reads each tab, and
// another one streams it.
func TestRestoreAfterBrowserFaults(t *testing.T) {
	long := campaign(t)
	patience := 2 * time.Second
	st := newStage(t, make([]browser.Config, 1), patience)
	for _, f := range browserFaults {
		if f.slow && long == 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			st, r := st, newRow(f.name)
			if long > 0 { // pauses must be due to this fault and not to an earlier one
				st = newStage(t, make([]browser.Config, 1), patience)
			}
			st.t = t
			for began := time.Now(); r.injected == 0 || r.injected < 5 && long > 0 || time.Since(began) < long/time.Duration(len(browserFaults)); {
				st.inject(f, r)
			}
			t.Log("\n| fault | injected | streams | calls | recovery |\n" + r.String())
		})
	}
	t.Run("a form is not sent again", func(t *testing.T) {
		st.t = t
		st.sendOnce()
	})
}

// inject injects a fault once and checks the consequences.
func (st *stage) inject(f fault, r *row) {
	t := st.t
	t.Helper()
	back, lost := st.open("/tall", true), st.open("/tall", false)
	place := st.settle(back, 1000, 700)
	before := st.All(back)
	backEnds, lostEnds := st.watch(back), st.watch(lost)
	fetched := st.fetched.Load()
	f.inject(st)
	r.injected++
	if f.harmless {
		_, err := st.Pages.Screenshot(testenv.Within(t, limit), &domtapv1.ScreenshotRequest{TabId: back})
		if status.Code(err) == codes.Unavailable && r.injected > 1 {
			// Chromium gives up if this happens too often.
			r.calls["the browser ended itself"]++
			r.add(st.untilBack(back, before.GetEpoch()))
			st.close(back, lost)
			return
		}
		if err != nil {
			t.Errorf("after it: %v", err)
		}
		if got := st.All(back); got.GetEpoch() != before.GetEpoch() {
			t.Error("the tab is in another epoch")
		}
		st.close(back, lost)
		if a, b := <-backEnds, <-lostEnds; r.injected == 1 && (a.Error() != "EOF" || b.Error() != "EOF") {
			t.Errorf("the streams end with %v and %v", a, b)
		}
		return
	}
	for tab, ends := range map[string]<-chan error{back: backEnds, lost: lostEnds} {
		err := <-ends
		r.streams[status.Code(err).String()+" "+testenv.Reason(err)]++
		if want := map[string]string{back: "TAB_RESTORING", lost: "PAGE_LOST"}[tab]; status.Code(err) != codes.Unavailable || testenv.Reason(err) != want {
			t.Errorf("the stream of %s ends with %v (%s), want %s", tab, err, testenv.Reason(err), want)
		}
	}
	seen := st.untilBack(back, before.GetEpoch())
	r.add(seen)
	st.isBack(back, before, seen.dom, place)
	if n := st.fetched.Load() - fetched; n != 1 {
		t.Errorf("the page was fetched %d times", n)
	}
	if _, err := st.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: lost}); status.Code(err) != codes.Unavailable && status.Code(err) != codes.NotFound {
		t.Errorf("the tab that was not to be restored: %v", err)
	}
	st.close(back, lost)
}

// isBack checks that the restored tab equals the earlier one.
func (st *stage) isBack(tab string, before, now *domtapv1.GetDomResponse, place string) {
	t := st.t
	t.Helper()
	if now.GetUrl() != before.GetUrl() || now.GetTitle() != before.GetTitle() || now.GetRevision() <= before.GetRevision() {
		t.Errorf("it is %s %q in revision %d, and was %s %q in %d", now.GetUrl(), now.GetTitle(), now.GetRevision(), before.GetUrl(), before.GetTitle(), before.GetRevision())
	}
	highest := uint32(0)
	for _, el := range before.GetElements() {
		highest = max(highest, el.GetRef())
	}
	for _, el := range now.GetElements() {
		if el.GetRef() <= highest {
			t.Errorf("ref %d is given again: %v", el.GetRef(), el)
		}
	}
	if len(now.GetElements()) != len(before.GetElements()) {
		t.Errorf("there are %d elements, and were %d", len(now.GetElements()), len(before.GetElements()))
	}
	if got := st.eval(tab, scrolled); got != place {
		t.Errorf("it is scrolled to %s, and was to %s", got, place)
	}
	stale := testenv.ClickOn(tab, before.GetElements()[0].GetRef())
	if _, err := st.Actions.Interact(testenv.Within(t, limit), stale); testenv.Reason(err) != "STALE_REF" {
		t.Errorf("a click on a ref of the page before: %v", err)
	}
}

func (st *stage) close(tabs ...string) {
	st.t.Helper()
	for _, tab := range tabs {
		_, err := st.Tabs.CloseTab(testenv.Within(st.t, limit), &domtapv1.CloseTabRequest{TabId: tab})
		if err != nil && status.Code(err) != codes.NotFound {
			st.t.Fatal(err)
		}
	}
}

// sendOnce checks that the result of a form is requested again with GET.
func (st *stage) sendOnce() {
	t := st.t
	t.Helper()
	tab := st.open("/form", true)
	page := st.All(tab)
	send, ok := testenv.Find(page, "Send")
	if !ok {
		t.Fatal("no button")
	}
	if _, err := st.Actions.Interact(testenv.Within(t, limit), testenv.ClickOn(tab, send.GetRef())); err != nil {
		t.Fatal(err)
	}
	if got := st.tab(tab).GetTitle(); got != "Answer to POST" {
		t.Fatalf("the page is %q", got)
	}
	before := st.All(tab)
	st.kill("renderer", syscall.SIGKILL)
	if seen := st.untilBack(tab, before.GetEpoch()); seen.dom.GetTitle() != "Answer to GET" {
		t.Errorf("it came back as %q", seen.dom.GetTitle())
	}
}
