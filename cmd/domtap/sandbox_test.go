//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without any rights, as Debian numbers it.
const nobody = 65534

// TestWhoIsNotRootKeepsTheSandbox runs the daemon as a user who is not root, as the image and the unit do: every renderer
// has namespaces and a filter of system calls.
func TestWhoIsNotRootKeepsTheSandbox(t *testing.T) {
	program := needPlainProgram(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else; for others, all tests with a browser have the sandbox")
	}
	home, err := os.MkdirTemp("", "dt") // short, for a socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	text, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "domtap"), text, 0o755)
	}
	if err == nil {
		err = os.Chown(home, nobody, nobody)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(home, "domtap"), args...)
		cmd.Dir = home
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DOMTAP_STATE_DIR=" + home, "GORACE=" + os.Getenv("GORACE"), "DOMTAP_CHROME=" + os.Getenv("DOMTAP_CHROME")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	if said, _ := run("doctor"); !strings.Contains(said, "ok    sandbox") {
		t.Skipf("this machine has no namespaces for users:\n%s", said)
	}
	defer func() {
		if said, err := run("stop"); err != nil {
			t.Errorf("domtap stop: %v: %s", err, said)
		}
	}()
	if said, err := run("open", "data:text/html,<button>Hello</button>"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if said, err := run("compact"); err != nil || !strings.Contains(said, "Hello (button)") {
		t.Errorf("%v: %s", err, said)
	}
	found := renderers(home)
	if len(found) == 0 {
		t.Error("no renderer was found")
	}
	for line, status := range found {
		if len(strings.Fields(status["NSpid"])) < 2 || strings.TrimSpace(status["Seccomp"]) != "2" {
			t.Errorf("a renderer has the process ids %q and the filter %q:\n%s", status["NSpid"], status["Seccomp"], line)
		}
	}
}

// renderers are those of a browser whose profile is below a directory: what proc_pid_status(5) says of them, by command line.
func renderers(dir string) map[string]map[string]string {
	found := map[string]map[string]string{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(dir)) || !bytes.Contains(line, []byte("--type=renderer")) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if err != nil {
			continue // it has ended
		}
		status := map[string]string{}
		for row := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(row, ":")
			status[name] = value
		}
		found[string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))] = status
	}
	return found
}
