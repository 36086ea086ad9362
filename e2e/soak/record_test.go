//go:build unix

package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// settled limits how long all clients together may take to catch up with a held page.
const settled = time.Minute

// point is one measurement.
type point struct {
	at time.Duration
	// of holds a value for each gauge.
	of [gauges]float64
	// These values are counted from the start.
	messages, resumed, ticks, revisions, coalesced, resyncs float64
}

// record holds the measurements of one soak.
type record struct {
	plan
	daemon  *daemon
	tab     string
	page    *figures
	clients *clients
	start   time.Time

	points []point
	// printed is the number of points at the last printed line.
	printed int
}

const mb = 1 << 20

// sample reads all figures.
func (r *record) sample(ctx context.Context) error {
	m, err := r.daemon.scrape(ctx)
	if err != nil {
		return err
	}
	page := r.page.get()
	p := point{
		at: time.Since(r.start), ticks: page.Ticks, revisions: m["domtap_revisions_total"],
		coalesced: m["domtap_coalesced_total"], resyncs: m["domtap_resyncs_total"],
	}
	p.messages, p.resumed = r.clients.total()
	p.of[daemonMemory] = m["process_resident_memory_bytes"] / mb
	p.of[daemonHeap] = m["go_gc_heap_live_bytes"] / mb
	p.of[daemonRoutines] = m["go_goroutines"]
	p.of[daemonFiles] = m["process_open_fds"]
	p.of[pageHeap] = page.Heap / mb
	p.of[pageElements] = page.Elements
	family := descendants(r.daemon.cmd.Process.Pid)
	p.of[browserProcesses] = float64(len(family))
	for _, pid := range family {
		size := memory(pid) / mb
		p.of[browserMemory] += size
		if isRenderer(pid) {
			p.of[rendererMemory] += size
		}
	}
	r.points = append(r.points, p)
	return nil
}

// head prints the column headers.
func (r *record) head() {
	_, _ = fmt.Fprintf(r.out, "%7s | %8s %8s %10s %4s | %8s %8s %9s %8s %5s | %6s %6s %9s %8s %7s\n",
		"time", "RSS MB", "heap MB", "goroutines", "fds", "page MB", "elements", "renderers", "browser", "procs",
		"Hz", "msg/s", "coalesced", "resyncs", "resumed")
}

// print prints the means since the last line.
func (r *record) print() {
	if len(r.points) == r.printed {
		return
	}
	since := r.points[r.printed:]
	var before point
	if r.printed > 0 {
		before = r.points[r.printed-1]
	}
	last := since[len(since)-1]
	mean := func(g gauge) (sum float64) {
		for _, p := range since {
			sum += p.of[g]
		}
		return sum / float64(len(since))
	}
	seconds := (last.at - before.at).Seconds()
	_, _ = fmt.Fprintf(r.out, "%7s | %8.1f %8.2f %10.0f %4.0f | %8.2f %8.0f %9.1f %8.1f %5.0f | %6.1f %6.1f %9.0f %8.0f %7.0f\n",
		last.at.Round(time.Second), mean(daemonMemory), mean(daemonHeap), mean(daemonRoutines), mean(daemonFiles),
		mean(pageHeap), mean(pageElements), mean(rendererMemory), mean(browserMemory), mean(browserProcesses),
		(last.ticks-before.ticks)/seconds, (last.messages-before.messages)/seconds,
		last.coalesced-before.coalesced, last.resyncs-before.resyncs, last.resumed-before.resumed)
	r.printed = len(r.points)
}

// converges holds the page, waits until the elements of every client equal the answer of GetDom, and lets the page continue.
func (r *record) converges(ctx context.Context) error {
	if err := r.daemon.press(ctx, r.tab, "Hold"); err != nil {
		return err
	}
	r.clients.hold.begin()
	defer r.clients.hold.end()
	bounded, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	began := time.Now()
	for _, c := range r.clients.list {
		if err := c.agrees(bounded); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(r.out, "%7s | held: all %d clients have what GetDom answers, after %v\n",
		time.Since(r.start).Round(time.Second), len(r.clients.list), time.Since(began).Round(time.Millisecond))
	return r.daemon.press(ctx, r.tab, "Go on")
}

// copyView copies the fields that requests have in common.
func copyView(to, from proto.Message) {
	fields := to.ProtoReflect().Descriptor().Fields()
	from.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if same := fields.ByNumber(f.Number()); same != nil && same.Name() == f.Name() {
			to.ProtoReflect().Set(same, v)
		}
		return true
	})
}

// checkGrowth fits a line to a gauge, prints its growth, and returns an error if it grew too much. A soak that is shorter than the limit
// shortest never fails because of growth.
func (p plan) checkGrowth(of rule, xs, ys []float64) error {
	v, err := of.judge(xs, ys)
	if errors.Is(err, errTooFew) && p.length < shortest {
		err = nil
	}
	grew := err == nil && v.grew > v.allowed
	if grew && p.length < shortest {
		_, _ = fmt.Fprintf(p.out, "  %s (no verdict on growth in less than %v)\n", v, shortest)
		return nil
	}
	_, _ = fmt.Fprintf(p.out, "  %s\n", v)
	if grew {
		return fmt.Errorf("%s grew", of.name)
	}
	return err
}

// judge fits a line to each gauge, prints its growth, and returns an error if a gauge grew too much.
func (r *record) judge() error {
	warm := r.length / 3
	_, _ = fmt.Fprintf(r.out, "\nGrowth by a linear fit from %v to %v:\n", warm.Round(time.Second), r.length)
	var errs []error
	for g, rule := range rules {
		var xs, ys []float64
		for _, p := range r.points {
			if p.at >= warm {
				xs, ys = append(xs, p.at.Seconds()), append(ys, p.of[g])
			}
		}
		errs = append(errs, r.checkGrowth(rule, xs, ys))
	}
	if err := errors.Join(errs...); err != nil {
		_, _ = fmt.Fprintln(r.out, "FAIL")
		return err
	}
	_, _ = fmt.Fprintln(r.out, "PASS")
	return nil
}
