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
	// Address is the browser's address, in the form ws://HOST:PORT/PATH.
	Address string
	PID     int
	// End kills the browser and all its processes. It is also called at the end of the test.
	End func()
}

// StartRemote starts a browser independently of the daemon. The browser listens on a loopback port. Port 0 selects a free one.
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
	drained.Go(func() { _, _ = io.Copy(io.Discard, out) }) // the browser would block if its output was not read
	return r
}
