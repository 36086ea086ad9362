package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/server/replay"
)

// BenchmarkExport creates one HTML file from the hour of BenchmarkScrub: 720 pictures and 36,000 states of a page of 1,000 elements. It
// prints the size of the file, the time, and the maximum additional memory, sampled every 10 ms.
func BenchmarkExport(b *testing.B) {
	path := filepath.Join(b.TempDir(), "hour.domtap")
	writeHour(b, path)
	player, err := replay.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer player.Close()
	for b.Loop() {
		runtime.GC()
		before := heap()
		peak, stop := make(chan uint64, 1), make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			var most uint64
			again := time.NewTicker(10 * time.Millisecond)
			defer again.Stop()
			for {
				most = max(most, heap())
				select {
				case <-again.C:
				case <-stop:
					peak <- most
					return
				}
			}
		})
		begun, used := time.Now(), processed(b)
		file, left, err := player.Export("bench", 32<<20)
		took, cpu := time.Since(begun), processed(b)-used
		close(stop)
		work.Wait()
		if err != nil {
			b.Fatal(err)
		}
		most := (float64(<-peak) - float64(before)) / (1 << 20)
		b.Logf("%.1f MB in %v, processor time %v, %.0f MiB more of the heap at most; not in it: %q", float64(len(file))/1e6, took.Round(time.Millisecond), cpu.Round(time.Millisecond), most, left)
		if keep := os.Getenv("DOMTAP_TRACE"); keep != "" { // for viewing the file
			if err := os.WriteFile(keep, file, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(most, "peak-MiB")
		b.ReportMetric(float64(len(file))/1e6, "MB")
		b.ReportMetric(0, "ns/op")
	}
}

// heap returns the size of objects that are in use or not yet collected, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
