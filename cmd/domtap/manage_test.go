package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
)

// isolated returns a command with a separate state directory.
func isolated(t *testing.T) (command, string) {
	t.Helper()
	dir := shortDir(t)
	return command{env: map[string]string{"DOMTAP_STATE_DIR": dir}}, dir
}

func TestTokenPrintsTheToken(t *testing.T) {
	cmd, dir := isolated(t)
	if got := cmd.run(t, "token"); got.code != exit.Denied {
		t.Errorf("before there is one: %+v", got)
	}
	token := strings.Repeat("t", 43)
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := cmd.run(t, "token"); got.code != exit.OK || got.out != token+"\n" {
		t.Errorf("got %+v", got)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := cmd.run(t, "token"); got.code != exit.Denied || got.out != "" {
		t.Errorf("a token that others can read: %+v", got)
	}
}

func TestStopWithoutADaemonIsNoError(t *testing.T) {
	cmd, _ := isolated(t)
	if got := cmd.run(t, "stop"); got.code != exit.OK || !strings.HasPrefix(got.out, "no daemon runs") {
		t.Errorf("got %+v", got)
	}
	if got := cmd.run(t, "stop", "--addr", "127.0.0.1:1"); got.code != exit.Usage {
		t.Errorf("a daemon that is not here: %+v", got)
	}
}

func TestSocketPrintsThePathOfARunningDaemon(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	if got := daemon.at().run(t, "socket"); got.code != exit.OK || got.out != daemon.socket+"\n" {
		t.Errorf("got %+v", got)
	}
}

// examineWith runs the doctor and returns its findings by check.
func examineWith(t *testing.T, cmd command, args ...string) (map[string]doctor.Finding, int) {
	t.Helper()
	got := cmd.run(t, append([]string{"doctor", "-o", "json"}, args...)...)
	findings := map[string]doctor.Finding{}
	for line := range strings.Lines(got.out) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		findings[f.Check] = f
	}
	return findings, got.code
}

// fakeBrowser creates an executable that prints a version.
func fakeBrowser(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho Chromium 1.2.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDoctorFindsAFreshMachineHealthy(t *testing.T) {
	cmd, _ := isolated(t)
	cmd.start = func(context.Context, endpoint.Places) error {
		t.Error("the doctor started a daemon")
		return nil
	}
	chrome := fakeBrowser(t)
	found, code := examineWith(t, cmd, "--chrome", chrome)
	if code != exit.OK || len(found) != len(doctor.Checks) {
		t.Errorf("exit code %d, %+v", code, found)
	}
	if f := found["policy"]; f.Status != doctor.OK || !strings.HasPrefix(f.Found, "open") {
		t.Errorf("got %+v", f)
	}
	if f := found["browser"]; f.Status != doctor.OK || f.Found != "Chromium 1.2.3 at "+chrome {
		t.Errorf("got %+v", f)
	}
}

// TestDoctorSaysWhichBrowserIsPreferred examines a machine with a full browser, and then with a headless shell as well.
func TestDoctorSaysWhichBrowserIsPreferred(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("browsers have fixed places here")
	}
	cmd, _ := isolated(t)
	full := fakeBrowser(t)
	dir := filepath.Dir(full)
	t.Setenv("PATH", dir)
	t.Setenv("DOMTAP_CHROME", "")
	const prefers = "Chromium 1.2.3 at %s, the headless shell, preferred to a full browser unless you pass --headless=false"
	found, _ := examineWith(t, cmd)
	if f := found["browser"]; f.Status != doctor.OK || !strings.HasPrefix(f.Found, "Chromium 1.2.3 at "+full+", a full browser; the headless shell") {
		t.Errorf("got %+v", f)
	}
	shell := filepath.Join(dir, "chromium-headless-shell")
	if err := os.Link(full, shell); err != nil {
		t.Fatal(err)
	}
	found, _ = examineWith(t, cmd)
	if f := found["browser"]; f.Found != fmt.Sprintf(prefers, shell) {
		t.Errorf("got %+v", f)
	}
	found, _ = examineWith(t, cmd, "--headless=false")
	if f := found["browser"]; f.Found != "Chromium 1.2.3 at "+full {
		t.Errorf("got %+v", f)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	found, _ = examineWith(t, cmd, "--headless=false")
	if f := found["browser"]; f.Status != doctor.Fail || !strings.Contains(f.Found+": "+f.Remedy, "has no windows: install the full browser") {
		t.Errorf("got %+v", f)
	}
}

func TestDoctorTriesTheBrowser(t *testing.T) {
	cmd, _ := isolated(t)
	chrome := fakeBrowser(t)
	cmd.tried = errors.New("libnss3.so is missing")
	found, code := examineWith(t, cmd, "--chrome", chrome)
	if f := found["browser"]; code != exit.Failure || f.Status != doctor.Fail || !strings.Contains(f.Found, "libnss3.so") {
		t.Errorf("exit code %d, %+v", code, f)
	}
	if f := found["sandbox"]; strings.Contains(f.Found, "keeps its sandbox") {
		t.Errorf("got %+v", f)
	}
	cmd.tried = fmt.Errorf("start it: %w", browser.ErrNoSandbox)
	found, _ = examineWith(t, cmd, "--chrome", chrome)
	if f := found["browser"]; f.Status != doctor.OK {
		t.Errorf("got %+v", f)
	}
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	cmd, dir := isolated(t)
	for file, mode := range map[string]os.FileMode{"token": 0o644, "domtap.sock": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	found, code := examineWith(t, cmd, "--chrome", filepath.Join(dir, "none"), "--url-policy", "pubic")
	if code != exit.Failure {
		t.Errorf("exit code %d", code)
	}
	for check, does := range map[string]string{"browser": "install", "state": "chmod go-w", "socket": "move it away", "token": "", "policy": "url-policy"} {
		if f := found[check]; f.Status != doctor.Fail || !strings.Contains(f.Remedy, does) {
			t.Errorf("%s: %+v, want a failure that says %q", check, f, does)
		}
	}
}

func TestDoctorLooksAtALiveDaemon(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	cmd := daemon.at()
	cmd.env["DOMTAP_STATE_DIR"] = t.TempDir()
	found, _ := examineWith(t, cmd, "--chrome", fakeBrowser(t))
	// The daemon runs in this process, which holds no claim.
	if f := found["daemon"]; f.Status != doctor.Warn || !strings.Contains(f.Found, "process is unknown") {
		t.Errorf("got %+v", f)
	}
	if f := found["socket"]; f.Status != doctor.Fail || !strings.Contains(f.Remedy, "chmod 600") {
		t.Errorf("a socket that others can open: %+v", f)
	}
}

func TestDoctorPrintsALineForEachCheck(t *testing.T) {
	cmd, _ := isolated(t)
	got := cmd.run(t, "doctor", "--remote", "http://127.0.0.1:1")
	if !strings.HasPrefix(got.out, "ok    browser   the daemon attaches to http://127.0.0.1:1\n") {
		t.Errorf("got %q", got.out)
	}
}

// TestDoctorLooksForARunningBrowser asks for a browser of this machine that allows debugging. There is none, although a file is left of one.
func TestDoctorLooksForARunningBrowser(t *testing.T) {
	cmd, _ := isolated(t)
	profile := t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "DevToolsActivePort"), []byte("1\n/devtools/browser/x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.browsers = []discovery.Folder{{Name: "brave", Product: "Brave", Scheme: "brave", Path: profile}}
	got := cmd.run(t, "doctor", "--remote", "auto")
	for _, want := range []string{"fail  browser   no running browser allows debugging", profile + " is of a browser that has ended", "→ in the browser, open brave://inspect/#remote-debugging"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in %q", want, got.out)
		}
	}
}
