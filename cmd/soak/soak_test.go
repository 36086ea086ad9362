//go:build unix

package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// workshop returns the program and sets a directory for all files of its daemon. The directory is checked at the end.
func workshop(t *testing.T) (program string) {
	t.Helper()
	testenv.NeedBrowser(t)
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		t.Skip("what processes take is read from /proc")
	}
	program = testenv.Program(t)
	dir, err := os.MkdirTemp("", "soak") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v, %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	return program
}

// TestSoakForTenSeconds runs make soak for ten seconds, with everything except the verdict on growth.
func TestSoakForTenSeconds(t *testing.T) {
	program := workshop(t)
	var out bytes.Buffer
	err := soak(t.Context(), planFor(program, 10*time.Second, &out))
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "held: all 10 clients"); n < 2 {
		t.Errorf("the clients were compared with the page %d times", n)
	}
	for _, r := range rules {
		if !strings.Contains(out.String(), r.name) {
			t.Errorf("there is no verdict on %s", r.name)
		}
	}
}

// TestLoadForFiveSeconds runs make load for five seconds with a small load, only in make test-long.
func TestLoadForFiveSeconds(t *testing.T) {
	if !testenv.Long() {
		t.Skip("set DOMTAP_LONG to put load on a daemon")
	}
	program := workshop(t)
	var out bytes.Buffer
	err := runLoad(t.Context(), load{plan: planFor(program, 5*time.Second, &out), tabs: 2, still: 2, hz: 10, rate: 50, age: time.Second})
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		"calls alone: ", "tabs that change, unread: ", "held: all 2 watchers", "from the change to the watcher: p50 ", "a call, from when it was due: p50 ",
		heldName, "a tab with its watcher takes ",
	} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("it does not say %q", what)
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
