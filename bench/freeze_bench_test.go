package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkFrozenTabs opens ten tabs that each change ten times a second. It reports how much processor time the processes of the browser
// and the daemon use while the tabs are unused, in milliseconds per second, before and after the pages are frozen. It also reports the time
// to read a frozen page and a running one. Linux only.
func BenchmarkFrozenTabs(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("the time of the browser's processes is read from /proc")
	}
	const tabs = 10
	url := testenv.Pages(b, map[string]http.HandlerFunc{"/": testenv.HTML(HTML(100) + `<script>
		let n = 0
		setInterval(() => { n++; for (const h of document.querySelectorAll("h3")) h.textContent = "Card " + n }, 100)
	</script>`)})
	d := testenv.StartDaemon(b)
	var ids []string
	for range tabs {
		ids = append(ids, d.Open(url))
	}
	settled(b, d.Browser.PID())
	browser, daemon := usedIn(b, d, 5*time.Second)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(browser, "browser-ms/s")
	b.ReportMetric(daemon, "daemon-ms/s")
	readTimes(b, d, ids) // the first read of a page costs more
	running := readTimes(b, d, ids)

	testenv.Await(b, "all tabs are frozen", func() bool {
		d.FreezeIdle()
		return countFrozen(b, d) == tabs
	})
	browser, daemon = usedIn(b, d, 5*time.Second)
	b.ReportMetric(browser, "frozen-browser-ms/s")
	b.ReportMetric(daemon, "frozen-daemon-ms/s")
	b.ReportMetric(settled(b, d.Browser.PID()), "frozen-MB")
	b.ReportMetric(ms(median(running)), "read-ms")
	b.ReportMetric(ms(median(readTimes(b, d, ids))), "frozen-read-ms")
}

// usedIn returns the processor time of the browser and of this process over a span of time, in ms per second.
func usedIn(b *testing.B, d *testenv.Daemon, span time.Duration) (browser, daemon float64) {
	b.Helper()
	before, own := groupTime(b, d.Browser.PID()), ownTime(b)
	ctx, cancel := context.WithTimeout(b.Context(), span)
	defer cancel()
	<-ctx.Done()
	return ms(groupTime(b, d.Browser.PID())-before) / span.Seconds(), ms(ownTime(b)-own) / span.Seconds()
}

func ownTime(b *testing.B) time.Duration {
	b.Helper()
	used, err := processorTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// groupTime returns the total processor time of the current processes of a group. It reads /proc, which has a resolution of 10 ms.
func groupTime(b *testing.B, group int) (used time.Duration) {
	b.Helper()
	for _, pid := range testenv.Group(group) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name may contain spaces
		fields := bytes.Fields(rest)
		for _, field := range fields[11:13] { // the fields utime and stime
			ticks, err := strconv.Atoi(string(field))
			if err != nil {
				b.Fatal(err)
			}
			used += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return used
}

func countFrozen(b *testing.B, d *testenv.Daemon) (n int) {
	b.Helper()
	list, err := d.Tabs.ListTabs(b.Context(), &domtapv1.ListTabsRequest{})
	if err != nil {
		b.Fatal(err)
	}
	for _, tab := range list.GetTabs() {
		if tab.GetFrozen() {
			n++
		}
	}
	return n
}

// readTimes returns the time of the next read of each tab.
func readTimes(b *testing.B, d *testenv.Daemon, tabs []string) (all []time.Duration) {
	b.Helper()
	for _, tab := range tabs {
		begun := time.Now()
		if _, err := d.Dom.GetCompact(b.Context(), &domtapv1.GetCompactRequest{TabId: tab}); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(begun))
	}
	return all
}
