//go:build unix

package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// load describes the load on the daemon: a number of tabs, each of which changes hz times a second and has a watcher, and rate calls a
// second on unchanging pages.
type load struct {
	plan
	tabs, hz, rate int
	// still is the number of unchanging pages.
	still int
	// nice is the daemon's --page-nice.
	nice int
	// age is the maximum age of the answers to the calls.
	age time.Duration
	// p50 and p99 limit the duration of calls from their due time, at these percentiles. Zero means no limit.
	p50, p99 time.Duration
}

// loadRun is a running load.
type loadRun struct {
	load
	daemon  *daemon
	control string
	// quiet holds the unchanging tabs.
	quiet   []string
	clients *clients
	// conns holds the connections of the watchers.
	conns   []*grpc.ClientConn
	callers *callers
	reached stopwatch
	start   time.Time
	// bare holds the daemon's resources for the calls alone, before the other tabs were opened.
	bare   resources
	points []resources
	lined  resources
	// memory is the memory of the browser at the time weighed.
	memory  float64
	weighed time.Time
}

// resources holds the resources of daemon and browser at one time. Memory is in bytes, time in seconds.
type resources struct {
	at                            time.Duration
	resident, heap, stacks        float64
	routines, files               float64
	browser                       float64
	daemonCPU, browserCPU         float64
	revisions, coalesced, resyncs float64
	messages                      float64
	// kinds holds the processor time of the browser's processes by kind, and of this process.
	kinds map[string]float64
}

// memoryEvery is the interval at which the memory of the browser is read. For each reading the kernel walks all pages of sixty processes,
// which takes a tenth of a second and delays these processes.
const memoryEvery = 30 * time.Second

// runLoad runs a load and cleans up after it.
func runLoad(ctx context.Context, l load) (err error) {
	l.sample = max(l.sample, min(5*time.Second, l.length/20))
	site := serve(new(figures))
	defer site.Close()
	d, err := startDaemon(ctx, l.program, "--max-tabs", strconv.Itoa(l.tabs+l.still+1), "--page-nice", strconv.Itoa(l.nice))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop(context.WithoutCancel(ctx))) }()
	b := &loadRun{load: l, daemon: d, start: time.Now()}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.prepare(ctx, site.URL); err != nil {
		return err
	}
	return b.follow(ctx)
}

// prepare opens the unchanging pages, starts the calls, measures the daemon, and opens the other pages.
func (b *loadRun) prepare(ctx context.Context, site string) (err error) {
	if b.control, err = b.daemon.open(ctx, site+"/control.html"); err != nil {
		return err
	}
	for range b.still {
		tab, err := b.daemon.open(ctx, site+"/load.html")
		if err != nil {
			return err
		}
		b.quiet = append(b.quiet, tab)
	}
	if _, err := b.daemon.dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: b.control}); err != nil {
		return fmt.Errorf("read a page: %w", err)
	}
	if b.bare, err = b.measureDuring(ctx, "calls alone", b.read); err != nil {
		return err
	}
	var changing []string
	for range b.tabs {
		tab, err := b.daemon.open(ctx, site+"/load.html?hz="+strconv.Itoa(b.hz))
		if err != nil {
			return err
		}
		changing = append(changing, tab)
	}
	if _, err := b.measureDuring(ctx, "tabs that change, unread", b.tick); err != nil {
		return err
	}
	if err := b.watch(ctx, changing); err != nil {
		return err
	}
	if err := b.clients.begun(ctx); err != nil {
		return err
	}
	if err := b.read(ctx); err != nil {
		return err
	}
	b.start = time.Now()
	b.lined, err = b.measure(ctx)
	return err
}

// measureDuring calls begin, and then measures the daemon's resources over a period. The daemon collects its garbage several times by the end of the
// period.
func (b *loadRun) measureDuring(ctx context.Context, name string, begin func(context.Context) error) (resources, error) {
	if err := begin(ctx); err != nil {
		return resources{}, err
	}
	before, err := b.measure(ctx)
	if err != nil {
		return resources{}, err
	}
	t := time.NewTimer(min(10*time.Second, b.length/4))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return resources{}, context.Cause(ctx)
	}
	w, err := b.measure(ctx)
	if err != nil {
		return resources{}, err
	}
	seconds := (w.at - before.at).Seconds()
	_, _ = fmt.Fprintf(b.out, "%s: CPU of the daemon %.1f %%, of the browser %.1f %%; %s\n", name,
		100*(w.daemonCPU-before.daemonCPU)/seconds, 100*(w.browserCPU-before.browserCPU)/seconds, b.calls(seconds))
	return w, b.rest()
}

// calls describes the durations and failures of the recent calls.
func (b *loadRun) calls(seconds float64) string {
	if b.callers == nil {
		return "no calls"
	}
	took := b.callers.took.lap()
	return fmt.Sprintf("%.0f calls/s, p50 %.2f, p99 %.2f, most %.2f ms", float64(took.total)/seconds, ms(took.at(50)), ms(took.at(99)), ms(took.most))
}

// read starts the calls.
func (b *loadRun) read(ctx context.Context) (err error) {
	if b.rate > 0 {
		b.callers, err = b.daemon.call(ctx, b.rate, b.age, b.quiet)
	}
	return err
}

// rest stops the calls.
func (b *loadRun) rest() error {
	if b.callers == nil {
		return nil
	}
	err := b.callers.stop()
	b.callers = nil
	return err
}

// tick makes the pages start to change.
func (b *loadRun) tick(ctx context.Context) error { return b.daemon.press(ctx, b.control, "Go on") }

// watch follows each tab.
func (b *loadRun) watch(ctx context.Context, tabs []string) (err error) {
	if b.conns, err = b.daemon.dialShared(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	b.clients = &clients{hold: newHold(), cancel: cancel, broken: make(chan error, 1)}
	for i, tab := range tabs {
		b.clients.add(ctx, &client{
			conn: b.conns[i%sharedConns], clientKind: clientKind{name: tab, view: &domtapv1.WatchDomRequest{TabId: tab}},
			daemon: b.daemon, hold: b.clients.hold, news: make(chan struct{}), first: make(chan struct{}), onMessage: b.recordDelay,
		})
	}
	return nil
}

// recordDelay records the time from a change in the page's script to the watcher.
func (b *loadRun) recordDelay(m *domtapv1.WatchDomResponse) {
	now := time.Now()
	for _, e := range m.GetDiff().GetAdded() {
		if _, stamp, found := strings.Cut(e.GetText(), " at "); found {
			if ms, err := strconv.ParseFloat(stamp, 64); err == nil {
				b.reached.add(max(0, now.Sub(time.UnixMicro(int64(ms*1000)))))
			}
		}
	}
}

// measure reads all figures.
func (b *loadRun) measure(ctx context.Context) (resources, error) {
	m, err := b.daemon.scrape(ctx)
	if err != nil {
		return resources{}, err
	}
	w := resources{
		at: time.Since(b.start), resident: m["process_resident_memory_bytes"], heap: m["go_gc_heap_live_bytes"],
		stacks: m["go_memstats_stack_inuse_bytes"], routines: m["go_goroutines"], files: m["process_open_fds"],
		daemonCPU: m["process_cpu_seconds_total"], revisions: m["domtap_revisions_total"],
		coalesced: m["domtap_coalesced_total"], resyncs: m["domtap_resyncs_total"],
	}
	processes := descendants(b.daemon.cmd.Process.Pid)
	w.kinds = map[string]float64{"this program": cpu(os.Getpid()), "daemon": w.daemonCPU}
	for _, pid := range processes {
		used := cpu(pid)
		w.browserCPU += used
		w.kinds[kind(pid)] += used
	}
	if w.browser = b.memory; time.Since(b.weighed) >= memoryEvery {
		b.memory, b.weighed = 0, time.Now()
		for _, pid := range processes {
			b.memory += memory(pid)
		}
		w.browser = b.memory
	}
	if b.clients != nil {
		w.messages, _ = b.clients.total()
	}
	return w, nil
}

// follow measures until the time is over, and judges the result.
func (b *loadRun) follow(ctx context.Context) error {
	sample, line := time.NewTicker(b.sample), time.NewTicker(b.line)
	defer sample.Stop()
	defer line.Stop()
	over := time.NewTimer(b.length)
	defer over.Stop()
	b.head()
	var calls chan error // stays nil without callers
	if b.callers != nil {
		calls = b.callers.broken
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-b.clients.broken:
			return err
		case err := <-calls:
			return err
		case <-sample.C:
			w, err := b.measure(ctx)
			if err != nil {
				return err
			}
			b.points = append(b.points, w)
		case <-line.C:
			b.print()
		case <-over.C:
			b.print()
			return errors.Join(b.converges(ctx), b.judge())
		}
	}
}

func (b *loadRun) head() {
	_, _ = fmt.Fprintf(b.out, "%d tabs, %d times a second, %d calls a second\n%6s | %7s %7s %6s %5s | %6s %6s %7s | %6s %6s | %7s %7s %7s | calls\n",
		b.tabs, b.hz, b.rate, "time", "RSS MB", "heap MB", "gorout", "fds", "CPU %", "brows%", "browsMB", "rev/s", "msg/s", "p50 ms", "p99", "max")
}

// print prints the figures since the last line.
func (b *loadRun) print() {
	if len(b.points) == 0 {
		return
	}
	w, was := b.points[len(b.points)-1], b.lined
	seconds := (w.at - was.at).Seconds()
	if seconds <= 0 {
		return
	}
	b.lined = w
	reached := b.reached.lap()
	_, _ = fmt.Fprintf(b.out, "%6s | %7.1f %7.2f %6.0f %5.0f | %6.1f %6.1f %7.0f | %6.0f %6.0f | %7.2f %7.2f %7.2f | %s\n",
		w.at.Round(time.Second), w.resident/mb, w.heap/mb, w.routines, w.files,
		100*(w.daemonCPU-was.daemonCPU)/seconds, 100*(w.browserCPU-was.browserCPU)/seconds, w.browser/mb,
		(w.revisions-was.revisions)/seconds, (w.messages-was.messages)/seconds,
		ms(reached.at(50)), ms(reached.at(99)), ms(reached.most), b.calls(seconds))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// converges holds the pages and waits until the elements of every watcher equal the answer of GetDom.
func (b *loadRun) converges(ctx context.Context) error {
	if err := b.daemon.press(ctx, b.control, "Hold"); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	for _, c := range b.clients.list {
		if err := c.agrees(bounded); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(b.out, "held: all %d watchers have what GetDom answers\n", len(b.clients.list))
	return nil
}

// judge prints the result of the whole run. It returns an error if a gauge grew too much.
func (b *loadRun) judge() error {
	all := []timed{{"from the change to the watcher", b.reached.whole()}}
	if b.callers != nil {
		all = append(all, timed{"a call, from when it was due", b.callers.took.whole()}, timed{"a call, from when it was sent", b.callers.asked.whole()})
	}
	for _, of := range all {
		_, _ = fmt.Fprintf(b.out, "%s: p50 %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, most %.2f ms, of %d\n",
			of.name, ms(of.h.at(50)), ms(of.h.at(90)), ms(of.h.at(99)), ms(of.h.at(99.9)), ms(of.h.most), of.h.total)
	}
	warm := b.length / 3
	series := map[string][]float64{}
	var xs []float64
	for _, p := range b.points {
		if p.at < warm {
			continue
		}
		xs = append(xs, p.at.Seconds())
		for name, value := range map[string]float64{
			heldName: (p.heap + p.stacks) / mb, rules[daemonMemory].name: p.resident / mb,
			rules[daemonRoutines].name: p.routines, rules[daemonFiles].name: p.files, rules[browserMemory].name: p.browser / mb,
		} {
			series[name] = append(series[name], value)
		}
	}
	var errs []error
	for _, rule := range []rule{ // each running call has goroutines
		{heldName, 2, 0.05}, {rules[daemonMemory].name, 8, 0.08}, {rules[daemonRoutines].name, maxConcurrent, 0}, rules[daemonFiles], {rules[browserMemory].name, 30, 0.05},
	} {
		errs = append(errs, b.checkGrowth(rule, xs, series[rule.name]))
	}
	b.perTab(series)
	b.perKind()
	if b.callers != nil {
		took := b.callers.took.whole()
		errs = append(errs, exceeds("half of the calls", took.at(50), b.p50), exceeds("one in a hundred calls", took.at(99), b.p99))
	}
	return errors.Join(errs...)
}

// exceeds returns an error if a duration exceeds its limit. A limit of 0 means no limit.
func exceeds(what string, took, limit time.Duration) error {
	if limit == 0 || took <= limit {
		return nil
	}
	return fmt.Errorf("%s took more than %v: %v", what, limit, took)
}

// heldName is the name of the gauge for the memory that the daemon retains.
const heldName = "daemon, live heap and stacks, MB"

// timed is a histogram with a name.
type timed struct {
	name string
	h    histogram
}

// perTab prints the daemon's memory for each changing, watched tab.
func (b *loadRun) perTab(series map[string][]float64) {
	held := mean(series[heldName])*mb - b.bare.heap - b.bare.stacks
	resident := mean(series[rules[daemonMemory].name])*mb - b.bare.resident
	_, _ = fmt.Fprintf(b.out, "a tab with its watcher takes %.0f KB of live heap and stacks in the daemon, and %.0f KB of resident memory, garbage included\n",
		held/float64(b.tabs)/1024, resident/float64(b.tabs)/1024)
}

// perKind prints how many processors each kind of process used under load, in descending order.
func (b *loadRun) perKind() {
	if len(b.points) < 2 {
		return
	}
	first, last := b.points[0], b.points[len(b.points)-1]
	took := map[string]float64{}
	for name, used := range last.kinds {
		took[name] = (used - first.kinds[name]) / (last.at - first.at).Seconds()
	}
	names := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Compare(took[b], took[a]) })
	_, _ = fmt.Fprint(b.out, "processors:")
	for _, name := range names {
		if took[name] >= 0.005 {
			_, _ = fmt.Fprintf(b.out, " %s %.2f", name, took[name])
		}
	}
	_, _ = fmt.Fprintln(b.out)
}

// end stops the clients and calls.
func (b *loadRun) end() error {
	err := b.rest()
	if b.clients != nil {
		err = errors.Join(err, b.clients.leave())
	}
	hangUp(b.conns)
	return err
}
