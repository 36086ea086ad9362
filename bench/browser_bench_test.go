package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkBrowsers starts the headless shell and the full browser, if they are installed. It measures the time until the first page of 300
// elements is loaded and read. On Linux it also measures the memory of all processes of the browser with 1 and with 10 such tabs in one
// session, with shared pages counted proportionally.
func BenchmarkBrowsers(b *testing.B) {
	for _, headless := range []bool{true, false} {
		path, err := browser.Find("", headless)
		name := "full"
		switch {
		case err != nil:
			b.Log(err)
			continue
		case browser.IsShell(path):
			name = "shell"
		case headless:
			b.Log("the headless shell is not installed")
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.Setenv("DOMTAP_CHROME", path)
			benchmarkBrowser(b)
		})
	}
}

func benchmarkBrowser(b *testing.B) {
	const pages = 10
	url := servePages(b)
	read := func(d *testenv.Daemon) {
		if len(d.All(d.Open(url+"/page/300")).GetElements()) == 0 {
			b.Fatal("the page is empty")
		}
	}
	var starts []time.Duration
	for range max(b.N, 7) {
		begun := time.Now()
		read(testenv.StartDaemon(b))
		starts = append(starts, time.Since(begun))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(starts).Milliseconds()), "start-ms")
	if runtime.GOOS != "linux" {
		return
	}
	d := testenv.StartDaemon(b)
	read(d)
	b.ReportMetric(settled(b, d.Browser.PID()), "MB-1-tab")
	for range pages - 1 {
		read(d)
	}
	b.ReportMetric(settled(b, d.Browser.PID()), "MB-10-tabs")
}
