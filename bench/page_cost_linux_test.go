package bench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// rest is how long a page is left alone after its reads, so that what it does later on is part of its cost.
const rest = 400 * time.Millisecond

// BenchmarkSavedPages reads every .html file of the folder $DOMTAP_PAGES twice, at once after it loaded, and prints the
// sum over the pages of each median: of the first read, of the same read again, and of the processor time of the main
// thread of the page from its navigation until 400 ms after the reads. Run it with -benchtime=8x or more, and on two
// versions by turns to compare these.
func BenchmarkSavedPages(b *testing.B) {
	url, files := savedPages(b)
	s := &site{Daemon: testenv.StartDaemon(b), b: b, url: url}
	tab := s.Open(url + "/" + filepath.Base(files[0]))
	first, again, thread := make([][]float64, len(files)), make([][]float64, len(files)), make([][]float64, len(files))
	read := func() float64 {
		start := time.Now()
		s.interactive(tab)
		return time.Since(start).Seconds()
	}
	for b.Loop() {
		for i, file := range files {
			used := mainThreads(b)
			s.load(tab, url+"/"+filepath.Base(file))
			first[i] = append(first[i], read())
			again[i] = append(again[i], read())
			time.Sleep(rest)
			thread[i] = append(thread[i], since(used, mainThreads(b)))
		}
	}
	for i, file := range files {
		b.Logf("least %-28s first %6.1f ms  again %5.1f ms  thread %6.1f ms", filepath.Base(file), 1000*slices.Min(first[i]), 1000*slices.Min(again[i]), 1000*slices.Min(thread[i]))
		b.Logf("%-28s first %6.1f ms  again %5.1f ms  thread %6.1f ms", filepath.Base(file), 1000*middle(first[i]), 1000*middle(again[i]), 1000*middle(thread[i]))
	}
	b.ReportMetric(1000*sumOfMedians(first), "first-ms")
	b.ReportMetric(1000*sumOfMedians(again), "again-ms")
	b.ReportMetric(1000*sumOfMedians(thread), "thread-ms")
}

func sumOfMedians(all [][]float64) (sum float64) {
	for _, values := range all {
		sum += middle(values)
	}
	return sum
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// mainThreads is the processor time in seconds that the main thread of each renderer below this process has used.
func mainThreads(b *testing.B) map[int]float64 {
	b.Helper()
	parents := map[int]int{}
	used := map[int]float64{}
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		b.Fatal(err)
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(command), "--type=renderer") {
			sched, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/schedstat", pid))
			ns, _ := strconv.ParseFloat(strings.Fields(string(sched) + " 0")[0], 64)
			used[pid] = ns / 1e9
		}
	}
	maps.DeleteFunc(used, func(pid int, _ float64) bool {
		for pid > 1 && pid != os.Getpid() {
			pid = parents[pid]
		}
		return pid != os.Getpid()
	})
	return used
}

// since is what the renderers that are there have used since the earlier figures.
func since(before, now map[int]float64) (sum float64) {
	for pid, used := range now {
		sum += used - before[pid]
	}
	return sum
}
