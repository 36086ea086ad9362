package bench

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/recording/recordingtest"
	"github.com/domtap/domtap/internal/testenv"
)

// scrubTarget is the target time for reading the text and the picture of any second of an hour.
const scrubTarget = 200 * time.Millisecond

// BenchmarkScrub reads random seconds of a replayed hour over gRPC: the page as text and its picture. The recording is of a page of 1,000
// elements that changes ten times a second, with a picture every five seconds. No browser is involved. The row cpu is the processor time of
// both calls, including the client's. Use this figure on a machine that is not idle. On Linux the benchmark also reports how long threads
// of the program waited for a processor during the slowest calls.
func BenchmarkScrub(b *testing.B) {
	path := filepath.Join(b.TempDir(), "hour.domtap")
	writeHour(b, path)
	begun := time.Now()
	d := testenv.Replay(b, path)
	b.Logf("%-8s %v", "opening", time.Since(begun).Round(time.Millisecond))
	random := rand.New(rand.NewPCG(11, 11))
	var texts, pictures, both, processor times
	var slowest, waited time.Duration
	for range max(b.N, 300) {
		at := &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: durationpb.New(time.Duration(random.IntN(3600)) * time.Second)}}
		queued := runQueue()
		begun, used := time.Now(), processed(b)
		if _, err := d.Dom.GetCompact(b.Context(), &domtapv1.GetCompactRequest{TabId: "t1", At: at}); err != nil {
			b.Fatal(err)
		}
		text := time.Since(begun)
		if _, err := d.Pages.Screenshot(b.Context(), &domtapv1.ScreenshotRequest{TabId: "t1", At: at, Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG}); err != nil {
			b.Fatal(err)
		}
		all := time.Since(begun)
		if all > slowest {
			slowest, waited = all, runQueue()-queued
		}
		texts, pictures, both, processor = append(texts, text), append(pictures, all-text), append(both, all), append(processor, processed(b)-used)
	}
	for _, one := range []struct {
		name string
		took times
	}{{"text", texts}, {"picture", pictures}, {"both", both}, {"cpu", processor}} {
		slices.Sort(one.took)
		b.Logf("%-8s p50 %v p99 %v max %v", one.name, one.took.at(50).Round(100*time.Microsecond), one.took.at(99).Round(100*time.Microsecond), one.took[len(one.took)-1].Round(100*time.Microsecond))
	}
	if waited > 0 {
		b.Logf("the slowest took %v; meanwhile the threads of the program waited %v for a processor", slowest.Round(100*time.Microsecond), waited.Round(100*time.Microsecond))
	}
	word := "ok"
	if both[len(both)-1] > scrubTarget {
		word = "MISSED"
	}
	b.Logf("%d random seconds, target of both: %v: %s", len(both), scrubTarget, word)
	b.ReportMetric(ms(both.at(50)), "p50-ms")
	b.ReportMetric(ms(both[len(both)-1]), "max-ms")
	b.ReportMetric(0, "ns/op")
}

// runQueue returns how long all threads of this process have waited for a processor, or 0 if the system does not report it.
func runQueue() (sum time.Duration) {
	tasks, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, path := range tasks {
		var ran, waited int64
		if text, err := os.ReadFile(path); err == nil {
			if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
				sum += time.Duration(waited)
			}
		}
	}
	return sum
}

// processed returns the processor time of this process.
func processed(b *testing.B) time.Duration {
	used, err := processorTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// writeHour writes a recording of one hour.
func writeHour(b *testing.B, path string) {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	w, err := recording.NewWriter(file, recording.Header{ID: "hour", Tab: "t1", Session: "default", Started: recordingtest.Start})
	must(err)
	p := recordingtest.NewPage(8, 1000)
	must(w.State(recordingtest.Start, p.Published()))
	picture := noise(b, p.Random)
	for i := range 36000 {
		at := recordingtest.Start.Add(time.Duration(i) * 100 * time.Millisecond)
		must(w.State(at, p.Change()))
		if i%50 == 0 {
			must(w.Picture(at, &recording.Picture{Format: "jpeg", Width: 480, Height: 300, PageWidth: 1280, Data: picture, Revision: p.Revision(), Epoch: "e"}))
		}
		if i%10 == 0 {
			must(w.Flush())
		}
	}
	must(w.End(recordingtest.Start.Add(time.Hour), recording.ReasonStopped, ""))
	b.Logf("%-8s %.1f MB", "file", float64(w.Bytes())/1e6)
	must(file.Close())
}

// noise returns a picture of gray noise in the size of recorded pictures.
func noise(b *testing.B, random *rand.Rand) []byte {
	b.Helper()
	img := image.NewGray(image.Rect(0, 0, 480, 300))
	for i := range img.Pix {
		img.Pix[i] = uint8(230 + random.IntN(12))
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 60}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}
