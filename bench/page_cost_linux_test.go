package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// rest is the idle time of a page after its reads, so that the cost includes its later work.
const rest = 400 * time.Millisecond

// BenchmarkSavedPages reads every .html file of the folder $DOMTAP_PAGES twice, immediately after it loaded. It prints the sums over all
// pages of four medians: the time of the first read, the time of the second read, the processor time of the page's main thread from the
// navigation until 400 ms after the reads, and its processor time during the first read. Run it with -benchtime=8x or more. To compare two
// versions, run them in turns. On a machine that is not idle, compare processor times.
func BenchmarkSavedPages(b *testing.B) {
	url, files := savedPages(b)
	s := &site{Daemon: testenv.StartDaemon(b), b: b, url: url}
	tab := s.Open(url + "/" + filepath.Base(files[0]))
	first, again, thread, scan := make([][]time.Duration, len(files)), make([][]time.Duration, len(files)), make([][]time.Duration, len(files)), make([][]time.Duration, len(files))
	read := func() time.Duration {
		start := time.Now()
		s.interactive(tab)
		return time.Since(start)
	}
	for b.Loop() {
		for i, file := range files {
			used := mainThreads(s.Browser.PID())
			s.load(tab, url+"/"+filepath.Base(file))
			loaded := mainThreads(s.Browser.PID())
			first[i] = append(first[i], read())
			scan[i] = append(scan[i], since(loaded, mainThreads(s.Browser.PID())))
			again[i] = append(again[i], read())
			time.Sleep(rest)
			thread[i] = append(thread[i], since(used, mainThreads(s.Browser.PID())))
		}
	}
	for i, file := range files {
		b.Logf("%-28s first %6.1f ms  again %5.1f ms  thread %6.1f ms", filepath.Base(file), ms(median(first[i])), ms(median(again[i])), ms(median(thread[i])))
	}
	b.ReportMetric(sumOfMedians(first), "first-ms")
	b.ReportMetric(sumOfMedians(again), "again-ms")
	b.ReportMetric(sumOfMedians(thread), "thread-ms")
	b.ReportMetric(sumOfMedians(scan), "first-thread-ms")
}

// sumOfMedians returns the sum in milliseconds.
func sumOfMedians(all [][]time.Duration) (sum float64) {
	for _, took := range all {
		sum += ms(median(took))
	}
	return sum
}

// mainThreads returns the processor time of the main thread of each of a browser's renderers, by process.
func mainThreads(browser int) map[int]time.Duration {
	used := map[int]time.Duration{}
	for _, pid := range testenv.Group(browser) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		times, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/schedstat", pid))
		if err != nil || !bytes.Contains(command, []byte("--type=renderer")) {
			continue // a different process, or a process that has ended
		}
		ran, _, _ := strings.Cut(string(times), " ")
		if ns, err := strconv.ParseInt(ran, 10, 64); err == nil {
			used[pid] = time.Duration(ns)
		}
	}
	return used
}

// since returns how much the current renderers have used since the earlier figures.
func since(before, now map[int]time.Duration) (sum time.Duration) {
	for pid, used := range now {
		sum += used - before[pid]
	}
	return sum
}
