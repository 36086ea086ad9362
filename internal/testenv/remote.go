//go:build unix

package testenv

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Remote is a browser that the daemon did not start.
type Remote struct {
	// Address is where it listens, as ws://HOST:PORT/PATH.
	Address string
	PID     int
	// End ends it at once, with all its processes; the end of the test does, too.
	End func()
}

// StartRemote starts a browser as somebody else would, that listens on a port of loopback; 0: on a free one.
func StartRemote(t testing.TB, port int) *Remote {
	t.Helper()
	cmd := exec.Command(NeedBrowser(t), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		fmt.Sprintf("--remote-debugging-port=%d", port), "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var drained sync.WaitGroup
	r := &Remote{PID: cmd.Process.Pid}
	r.End = sync.OnceFunc(func() {
		_ = syscall.Kill(-r.PID, syscall.SIGKILL)
		drained.Wait()
		_ = cmd.Wait()
	})
	t.Cleanup(r.End)
	for lines := bufio.NewScanner(out); r.Address == "" && lines.Scan(); {
		_, r.Address, _ = strings.Cut(lines.Text(), "DevTools listening on ")
	}
	if r.Address == "" {
		t.Fatal("the browser does not say where it listens")
	}
	drained.Go(func() { _, _ = io.Copy(io.Discard, out) }) // or it would stop when nobody reads
	return r
}
