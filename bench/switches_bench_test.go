package bench

import (
	"cmp"
	"fmt"
	"runtime"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkSwitches reports the memory of all processes of a browser in MB for switches that might reduce it. It excludes program files,
// which are shared with other browsers. It measures no tab, 1 and 10 tabs of 300 elements in one session, and the additional memory of a
// session with such a tab. DOMTAP_CHROME names another browser. Linux only.
func BenchmarkSwitches(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("memory is read from /proc")
	}
	for _, flag := range []string{
		"", "renderer-process-limit=1", "js-flags=--optimize-for-size", "js-flags=--lite-mode", "in-process-gpu", "disable-gpu",
		"disable-features=AudioServiceOutOfProcess", "disable-features=NetworkServiceInProcess2", "disable-software-rasterizer",
		"enable-low-end-device-mode", "no-zygote",
	} {
		b.Run(cmp.Or(flag, "none"), func(b *testing.B) { benchmarkSwitch(b, flag) })
	}
}

func benchmarkSwitch(b *testing.B, flag string) {
	const tabs, sessions = 10, 4
	var flags []string
	if flag != "" {
		flags = []string{flag}
	}
	url := servePages(b) + "/page/300"
	d := testenv.StartDaemon(b, flags...)
	b.ReportMetric(0, "ns/op")
	memory := func() float64 {
		settled(b, d.Browser.PID())
		return memoryOf(b, d.Browser.PID(), "Pss_Anon:", "Pss_Shmem:")
	}
	b.ReportMetric(memory(), "MB-0-tabs")
	d.All(d.Open(url))
	b.ReportMetric(memory(), "MB-1-tab")
	for range tabs - 1 {
		d.All(d.Open(url))
	}
	before := memory()
	b.ReportMetric(before, "MB-10-tabs")
	for i := range sessions {
		session := fmt.Sprint("s", i)
		if _, err := d.Sessions.CreateSession(b.Context(), &domtapv1.CreateSessionRequest{SessionId: session}); err != nil {
			b.Fatal(err)
		}
		in := d.In(b, session)
		in.All(in.Open(url))
	}
	b.ReportMetric((memory()-before)/sessions, "MB-a-session")
}
