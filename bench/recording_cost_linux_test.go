package bench

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// Times holds processor times by process.
type Times struct {
	// Renderers holds the times of the renderers' main threads, by process.
	Renderers map[int]time.Duration
	// Browser is the time of all processes and threads of the browser, with a resolution of 10 ms.
	Browser time.Duration
	Daemon  time.Duration
}

// Times returns the processor times used so far.
func (c *control) Times(_ struct{}, reply *Times) (err error) {
	pid := c.site.Browser.PID()
	reply.Renderers = mainThreads(pid)
	for _, one := range testenv.Group(pid) {
		reply.Browser += processTime(one)
	}
	reply.Daemon, err = processorTime()
	return err
}

// processTime returns the processor time of a process, or 0 if it has ended.
func processTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the fields from the third one on; the name may contain spaces
	if len(fields) < 13 {
		return 0
	}
	var ticks int
	for _, field := range fields[11:13] { // the fields utime and stime
		n, _ := strconv.Atoi(string(field)) // the fields are numbers
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // the unit is 1/USER_HZ, and USER_HZ is 100 on all systems that run Go
}

func (a *apart) times() (t Times) {
	a.b.Helper()
	if err := a.control.Call("Control.Times", struct{}{}, &t); err != nil {
		a.b.Fatal(err)
	}
	return t
}

// recordingShop makes a page change two texts ten times a second and count clicks.
const recordingShop = `(() => {
  const items = [...document.querySelectorAll('p, button')].slice(5);
  let n = 0, clicks = 0;
  setInterval(() => { n++; for (const i of [0, 17]) items[(n * 131 + i) % items.length].textContent = 'Price ' + n + '.' + i }, 100);
  document.addEventListener('click', () => { document.querySelector('h3').textContent = 'Card of ' + ++clicks });
})()`

const (
	// recordingRound is the duration of a measurement. clickEvery is the time between two clicks.
	recordingRound, clickEvery = 10 * time.Second, 5 * time.Second
	recordingRounds            = 3
)

// BenchmarkRecording measures the cost of recording a page of 1,000 elements that changes ten times a second and is clicked every five
// seconds. It reports the processor time of the page's main thread, of the whole browser and of the daemon in ms per second, as medians of
// alternating rounds: without watchers, with one watcher, with one watcher of all elements, and with a recording in addition to the first
// watcher, without and with pictures. Then it records one minute with pictures; MB/hour is sixty times the size. Run it with -benchtime=1x.
func BenchmarkRecording(b *testing.B) {
	s := newSiteApart(b)
	tab := s.page("", 1000)
	if err := s.cdp(b.Context(), "Runtime.evaluate", map[string]any{"expression": recordingShop}, nil); err != nil {
		b.Fatal(err)
	}
	ways := []struct {
		name   string
		watch  *domtapv1.WatchDomRequest
		record *domtapv1.RecordRequest
	}{
		{name: "nobody"},
		{name: "watcher", watch: watching(tab, true)},
		{name: "all", watch: watching(tab, false)},
		{name: "recording", watch: watching(tab, true), record: &domtapv1.RecordRequest{TabId: tab, OmitPictures: true}},
		{name: "pictures", watch: watching(tab, true), record: &domtapv1.RecordRequest{TabId: tab}},
	}
	spent := make([][3][]float64, len(ways))
	for b.Loop() {
		for range recordingRounds {
			for i, way := range ways {
				leave := func() {}
				if way.watch != nil {
					leave = s.stream(way.watch)
				}
				took := s.recorded(tab, way.record, recordingRound)
				leave()
				for j, one := range took {
					spent[i][j] = append(spent[i][j], one)
				}
			}
		}
	}
	b.Logf("%-10s %8s %8s %8s  ms a second, medians of %d rounds of %v", "", "page", "browser", "daemon", len(spent[0][0]), recordingRound)
	for i, way := range ways {
		for j := range spent[i] {
			slices.Sort(spent[i][j])
		}
		at := func(j int) float64 { return spent[i][j][len(spent[i][j])/2] }
		b.Logf("%-10s %8.1f %8.1f %8.1f", way.name, at(0), at(1), at(2))
		b.ReportMetric(at(0), way.name+"-page-ms/s")
		b.ReportMetric(at(2), way.name+"-daemon-ms/s")
	}
	s.recordMinute(b, tab)
	b.ReportMetric(0, "ns/op")
}

// watching returns a stream request without limits, for interactive elements or for all elements.
func watching(tab string, interactive bool) *domtapv1.WatchDomRequest {
	return &domtapv1.WatchDomRequest{TabId: tab, InteractiveOnly: &interactive, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)}
}

// recorded lets the page run for a while, with or without a recording. It returns the processor times of the page's main thread, the
// browser and the daemon in ms per second. They include the end of the recording.
func (s *apart) recorded(tab string, record *domtapv1.RecordRequest, long time.Duration) [3]float64 {
	s.b.Helper()
	ctx := s.b.Context()
	if record != nil {
		if _, err := s.Recordings.Record(ctx, record); err != nil {
			s.b.Fatal(err)
		}
	}
	before, begun := s.times(), time.Now()
	s.clickFor(tab, long)
	if record != nil {
		if _, err := s.Recordings.StopRecording(ctx, &domtapv1.StopRecordingRequest{TabId: tab}); err != nil {
			s.b.Fatal(err)
		}
	}
	now, took := s.times(), time.Since(begun).Seconds()
	return [3]float64{ms(since(before.Renderers, now.Renderers)) / took, ms(now.Browser-before.Browser) / took, ms(now.Daemon-before.Daemon) / took}
}

// clickFor clicks every five seconds for a while.
func (s *apart) clickFor(tab string, long time.Duration) {
	s.b.Helper()
	target := &domtapv1.Target{Selector: "#c0 button[aria-pressed]"}
	again := time.NewTicker(clickEvery)
	defer again.Stop()
	for range long / clickEvery {
		_, err := s.Actions.Interact(s.b.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}}})
		if err != nil {
			s.b.Fatal(err)
		}
		<-again.C
	}
}

// recordMinute records the page for a minute and prints the size of the file.
func (s *apart) recordMinute(b *testing.B, tab string) {
	b.Helper()
	if _, err := s.Recordings.Record(b.Context(), &domtapv1.RecordRequest{TabId: tab}); err != nil {
		b.Fatal(err)
	}
	s.clickFor(tab, time.Minute)
	ended, err := s.Recordings.StopRecording(b.Context(), &domtapv1.StopRecordingRequest{TabId: tab})
	if err != nil {
		b.Fatal(err)
	}
	one := ended.GetRecordings()[0]
	took := one.GetEnded().AsTime().Sub(one.GetStarted().AsTime())
	perHour := float64(one.GetBytes()) / 1e6 * time.Hour.Seconds() / took.Seconds()
	b.Logf("%v take %d bytes with %d states and %d pictures: %.1f MB an hour, if it goes on like that", took.Round(time.Second), one.GetBytes(), one.GetStates(),
		one.GetPictures(), perHour)
	b.ReportMetric(perHour, "MB/hour")
}
