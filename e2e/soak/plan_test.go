//go:build unix

// Package soak runs the daemon for a long time on a page that changes sixty times a second. Ten clients follow the page with different
// options. TestSoak judges the trend of the daemon's memory and latencies:
//
//	go test -v -timeout=0 -run=TestSoak ./e2e/soak -time=30m
//
// Once a minute it prints the resources of daemon, page and browser. At the end it holds the page, compares every client's elements with
// the answer of GetDom, and fits a line to each figure. The fit omits the first third, in which caches and logs fill. The test fails if
// a figure grew by more than its limit, if a client's elements differ from the page, or if a stream violated its guarantees.
//
// TestLoad loads the daemon instead. For example,
//
//	go test -v -timeout=0 -run=TestLoad ./e2e/soak -tabs=50 -still=10 -hz=10 -calls=1000 -time=1h
//
// opens 50 small pages, each of which changes 10 times a second and has a watcher. Once every watcher has its page, it reads the DOM of ten
// unchanging pages, 1000 times a second in total. Watchers share four connections, and so do callers. It prints the time from a change to
// its watcher, the durations of calls from their due time and from sending, the resources of daemon and browser, the daemon's memory per
// tab, and the processor time of all processes by kind, including its own. It fails for the same reasons.
//
// The daemon runs in a separate process with its own socket, state directory and browser, and is stopped at the end. The tests run only
// on Linux, because they read the resources of processes from /proc.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// plan describes a soak.
type plan struct {
	// program is the domtap program.
	program string
	// length is the time for which the page is followed, at least a few seconds.
	length time.Duration
	// sample is the time between two measurements. line is the time between two printed lines. check is the time between two comparisons of
	// all clients with the page.
	sample, line, check time.Duration
	out                 io.Writer
}

// planFor returns a plan with intervals that suit its length.
func planFor(program string, length time.Duration, out io.Writer) plan {
	return plan{
		program: program, length: length, out: out,
		sample: max(length/360, 500*time.Millisecond), line: min(time.Minute, length/5), check: length / 6,
	}
}

// soak runs a plan and cleans up after it.
func soak(ctx context.Context, p plan) (err error) {
	figures := new(figures)
	site := serve(figures)
	defer site.Close()
	d, err := startDaemon(ctx, p.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop(context.WithoutCancel(ctx))) }()
	tab, err := d.open(ctx, fmt.Sprintf("%s/soak.html?every=%d", site.URL, p.sample.Milliseconds()))
	if err != nil {
		return err
	}
	clients, err := d.join(ctx, tab)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clients.leave()) }()
	return p.follow(ctx, &record{plan: p, daemon: d, tab: tab, page: figures, clients: clients, start: time.Now()})
}

// follow reads the figures until the time is over, and judges them.
func (p plan) follow(ctx context.Context, r *record) error {
	sample, line, check := time.NewTicker(p.sample), time.NewTicker(p.line), time.NewTicker(p.check)
	defer sample.Stop()
	defer line.Stop()
	defer check.Stop()
	over := time.NewTimer(p.length)
	defer over.Stop()
	r.head()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-r.clients.broken:
			return err
		case <-sample.C:
			if err := r.sample(ctx); err != nil {
				return err
			}
		case <-line.C:
			r.print()
		case <-check.C:
			if err := r.converges(ctx); err != nil {
				return err
			}
		case <-over.C:
			r.print()
			return errors.Join(r.converges(ctx), r.judge())
		}
	}
}
