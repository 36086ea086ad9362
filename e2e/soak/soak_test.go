//go:build unix

package soak

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// The flags of make soak and make load. Without -time, the tests take seconds.
var (
	length = flag.Duration("time", 0, "the duration of the soak or the load, at least 5s")
	tabs   = flag.Int("tabs", 2, "load: the number of changing tabs, each with a watcher")
	still  = flag.Int("still", 2, "load: the number of unchanging pages to read")
	hz     = flag.Int("hz", 10, "load: changes of each tab per second; 0: none")
	rate   = flag.Int("calls", 50, "load: calls per second that read unchanging pages; 0: none")
	age    = flag.Duration("age", time.Second, "load: the max_age of the calls, up to 1m; 0: ask the page")
	nice   = flag.Int("nice", 0, "load: the daemon's --page-nice")
	p50    = flag.Duration("p50", 0, "load: fail if the median duration of calls, from their due time, is longer; 0: no limit")
	p99    = flag.Duration("p99", 0, "load: fail if the 99th percentile of these durations is longer; 0: no limit")
)

// planned returns the plan of a test, and the output of the plan. The test lasts -time or, without it, brief. At its end, planned checks
// that the daemon has left no files.
func planned(t *testing.T, brief time.Duration) (plan, *bytes.Buffer) {
	t.Helper()
	if wrong := flagError(); wrong != "" {
		t.Fatal(wrong)
	}
	testenv.NeedBrowser(t)
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		if *length > 0 {
			t.Fatal("the resources of processes are read from /proc, which this system lacks")
		}
		t.Skip("the resources of processes are read from /proc")
	}
	dir, err := os.MkdirTemp("", "soak") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	program := testenv.Program(t)
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v, %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	out := new(bytes.Buffer)
	if *length > 0 {
		return planFor(program, *length, io.MultiWriter(out, os.Stdout)), out
	}
	return planFor(program, brief, out), out
}

// flagError describes a flag with an invalid value. It returns an empty string if there is none.
func flagError() string {
	switch {
	case *length != 0 && *length < 5*time.Second:
		return "-time must be at least 5s"
	case *tabs < 1:
		return "-tabs must be at least 1"
	case *still < 0 || *hz < 0 || *rate < 0 || *nice < 0 || *p50 < 0 || *p99 < 0:
		return "no flag may be negative"
	case *still == 0 && *rate > 0:
		return "-calls needs pages to read: set -still to 1 or more, or -calls to 0"
	case *age < 0 || *age > time.Minute:
		return "-age must be from 0 to 1m"
	}
	return ""
}

// run runs a soak or a load, and stops it cleanly when the test is interrupted.
func run(t *testing.T, out *bytes.Buffer, do func(context.Context) error) {
	t.Helper()
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := do(ctx)
	if *length == 0 {
		t.Log(out.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSoak lasts -time or, without it, ten seconds, too few for a verdict on growth.
func TestSoak(t *testing.T) {
	p, out := planned(t, 10*time.Second)
	run(t, out, func(ctx context.Context) error { return soak(ctx, p) })
	if n := strings.Count(out.String(), "held: all 10 clients"); n < 2 {
		t.Errorf("the clients were compared with the page %d times", n)
	}
	for _, r := range rules {
		if !strings.Contains(out.String(), r.name) {
			t.Errorf("there is no verdict on %s", r.name)
		}
	}
}

// TestLoad lasts -time. Without it, make test-long runs a small load for five seconds.
func TestLoad(t *testing.T) {
	if *length == 0 && !testenv.Long() {
		t.Skip("set DOMTAP_LONG to put load on a daemon")
	}
	p, out := planned(t, 5*time.Second)
	run(t, out, func(ctx context.Context) error {
		return runLoad(ctx, load{plan: p, tabs: *tabs, still: *still, hz: *hz, rate: *rate, nice: *nice, age: *age, p50: *p50, p99: *p99})
	})
	said := []string{
		"calls alone: ", "tabs that change, unread: ", fmt.Sprintf("held: all %d watchers", *tabs), "from the change to the watcher: p50 ",
		heldName, "a tab with its watcher takes ",
	}
	if *rate > 0 {
		said = append(said, "a call, from when it was due: p50 ")
	}
	for _, what := range said {
		if !strings.Contains(out.String(), what) {
			t.Errorf("it does not say %q", what)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	if wrong := flagError(); wrong != "" {
		t.Fatal(wrong)
	}
	for set, want := range map[string]string{
		"time=1s": "-time", "tabs=0": "-tabs", "hz=-1": "negative", "still=0": "-still", "age=2m": "-age", "age=-1s": "-age", "calls=0": "",
	} {
		name, value, _ := strings.Cut(set, "=")
		f := flag.Lookup(name)
		was := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		if got := flagError(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("-%s: %q", set, got)
		}
		if err := f.Value.Set(was); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGrowthIsTheLinesAndNotTheNoise(t *testing.T) {
	r := rule{"it", 1, 0.05}
	var xs, flat, growing, zero []float64
	for i := range 200 {
		x := float64(i)
		noise := 5 * math.Sin(x)
		xs, flat, growing, zero = append(xs, x), append(flat, 50+noise), append(growing, 50+noise+0.05*x), append(zero, 0)
	}
	if v, err := r.judge(xs, flat); err != nil || v.grew > v.allowed || math.Abs(v.mean-50) > 0.5 {
		t.Errorf("what is flat: %v, %v", v, err)
	}
	if v, err := r.judge(xs, growing); err != nil || v.grew < v.allowed || math.Abs(v.grew-0.05*199) > 1 {
		t.Errorf("what grows by 10: %v, %v", v, err)
	}
	if _, err := r.judge(xs, zero); err == nil {
		t.Error("what was never measured passes")
	}
	if _, err := r.judge(xs[:2], flat[:2]); err == nil {
		t.Error("two values are enough")
	}
}
