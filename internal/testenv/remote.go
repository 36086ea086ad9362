//go:build unix

package testenv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/domtap/domtap/internal/browser"
)

// Remote is a browser that the daemon did not start.
type Remote struct {
	// Address is the browser's address, in the form ws://HOST:PORT/PATH.
	Address string
	PID     int
	// End kills the browser and all its processes. It is also called at the end of the test.
	End func()
}

// OwnBrowser is a full browser, started as its user would, with a profile and tabs. Its windows are not drawn.
type OwnBrowser struct {
	// Profile is the profile folder.
	Profile string
	PID     int
	// End kills the browser and all its processes, as a crash does. It is also called at the end of the test.
	End  func()
	port string
}

// StartOwnBrowser starts a full browser with the given profile folder, as a person does who allows debugging: with a free port, or
// by the switch at chrome://inspect/#remote-debugging, which is in the profile (see AllowByAsking). It returns when the browser has written
// its port to the profile. It skips a test for which no full browser is available.
func StartOwnBrowser(t testing.TB, profile string, args ...string) *OwnBrowser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser, and the tests are short")
	}
	path := os.Getenv("DOMTAP_CHROME")
	if browser.IsShell(path) {
		path = ""
	}
	path, err := browser.Find(path, false)
	if err != nil || browser.IsShell(path) {
		t.Skip("needs a full browser")
	}
	file := filepath.Join(profile, "DevToolsActivePort")
	before, _ := os.ReadFile(file)
	cmd := exec.Command(path, append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost", "--user-data-dir=" + profile}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &OwnBrowser{Profile: profile, PID: cmd.Process.Pid}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	b.End = sync.OnceFunc(func() {
		_ = syscall.Kill(-b.PID, syscall.SIGKILL)
		<-ended
	})
	t.Cleanup(b.End)
	Await(t, "the browser writes its port", func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the browser ended: %v", err)
		default:
		}
		now, _ := os.ReadFile(file)
		b.port, _, _ = strings.Cut(string(now), "\n")
		return b.port != string(now) && !bytes.Equal(now, before)
	})
	return b
}

// Open opens a tab, as the person does. The browser must have an open port.
func (b *OwnBrowser) Open(t testing.TB, address string) {
	t.Helper()
	req, err := http.NewRequestWithContext(Within(t, Patience), http.MethodPut, "http://127.0.0.1:"+b.port+"/json/new?"+url.QueryEscape(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// AllowByAsking turns on the switch at chrome://inspect/#remote-debugging in a profile that no browser uses.
func AllowByAsking(t testing.TB, profile string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(profile, "Local State"), []byte(`{"devtools":{"remote_debugging":{"user-enabled":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
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
