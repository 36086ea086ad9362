//go:build linux

package faults

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// wallClock is the clock of the machine, which this test changes and restores.
type wallClock struct {
	t *testing.T
	// right is a time at which the clock was correct, with its monotonic reading.
	right time.Time
}

// set sets the clock to the correct time plus delta.
func (c wallClock) set(delta time.Duration) {
	c.t.Helper()
	tv := syscall.NsecToTimeval(c.right.Add(time.Since(c.right)).Add(delta).UnixNano()) // Since uses the monotonic clock
	if err := syscall.Settimeofday(&tv); err != nil {
		c.t.Fatalf("setting the clock takes CAP_SYS_TIME: %v", err)
	}
}

// TestClockJumps sets the clock of the machine forward and back while a daemon runs. Streams must continue, calls must end in time, idle
// tabs must be closed neither early nor late, and no browser may be considered dead.
func TestClockJumps(t *testing.T) {
	far, err := time.ParseDuration(os.Getenv("DOMTAP_FAULTS_CLOCK"))
	if err != nil {
		t.Skip("DOMTAP_FAULTS_CLOCK=1h sets the clock of this machine so far forth and back, and then right again")
	}
	const idle = 20 * time.Second // far less than the jump of the clock
	p := install(t)
	var fetched atomic.Int64
	url := testenv.Pages(t, site(&fetched))
	daemon := p.served("--allow-eval", "--tab-idle", idle.String())
	used := p.run("open", "-q", url+"/counter", "--restore")
	p.run("compact", "--tab", used)
	epoch := p.tabs()[used].Epoch
	stream := p.follow(used)

	clock := wallClock{t, time.Now()}
	t.Cleanup(func() { clock.set(0) })
	for n, by := range []time.Duration{far, -far, 0} {
		resting, since := p.run("open", "-q", url+"/tall"), time.Now()
		clock.set(by)
		p.run("eval", "--tab", used, "count.click()")
		stream.shows(t, fmt.Sprint("Count ", n+1))
		if took := p.fails(used, "500ms"); took < 500*time.Millisecond || took > slack {
			t.Errorf("off by %v: a wait for half a second took %v", by, took)
		}
		if _, open := p.tabs()[resting]; !open && time.Since(since) < idle {
			t.Errorf("off by %v: a tab was closed after %v", by, time.Since(since))
		}
		for {
			if _, open := p.tabs()[resting]; !open {
				break
			}
			if time.Since(since) > limit {
				t.Fatalf("off by %v: a tab that rests is open after %v", by, time.Since(since))
			}
		}
		t.Logf("off by %v: a tab that rested was closed after %v", by, time.Since(since).Round(time.Second))
		if now := p.tabs()[used]; now.Status != "TAB_STATUS_READY" || now.Epoch != epoch {
			t.Errorf("off by %v: the tab is %+v, its epoch was %s", by, now, epoch)
		}
	}
	kill(t, daemon)
	clock.set(-far) // so that all files have modification times in the future
	daemon = p.served("--allow-eval")
	if now := p.tabs()[used]; now.Status != "TAB_STATUS_READY" {
		t.Errorf("after a daemon's death, with a clock that went back: %+v", now)
	}
	p.run("stop")
	_ = daemon.Wait()
}

// fails waits for a condition that is never met, and returns how long that took.
func (p *installed) fails(tab, timeout string) time.Duration {
	p.t.Helper()
	began := time.Now()
	err := p.command("wait", "--tab", tab, "--text", "this never comes", "--timeout", timeout).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		p.t.Errorf("a wait for what never comes: %v", err)
	}
	return time.Since(began)
}

// followed is the output of a stream, line by line.
type followed struct{ lines chan string }

// follow watches a tab until the test ends.
func (p *installed) follow(tab string) followed {
	p.t.Helper()
	cmd := p.command("watch", "--tab", tab, "-o", "json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	f := followed{make(chan string)}
	over := make(chan struct{})
	go func() {
		defer close(f.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			select {
			case f.lines <- in.Text():
			case <-over:
				return
			}
		}
	}()
	p.t.Cleanup(func() {
		close(over)
		_ = cmd.Process.Kill()
		for range f.lines { // until the reader has ended
		}
		_ = cmd.Wait()
	})
	return f
}

// shows waits until the stream contains a text.
func (f followed) shows(t *testing.T, what string) {
	t.Helper()
	timeout := time.After(limit)
	for {
		select {
		case line, ok := <-f.lines:
			if !ok {
				t.Fatalf("the stream ended before it said %q", what)
			}
			if strings.Contains(line, what) {
				return
			}
		case <-timeout:
			t.Fatalf("the stream does not say %q", what)
		}
	}
}
