//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// nobody is the ID of the user without any rights, as on Debian.
const nobody = 65534

// TestSandboxIsOnUnlessRoot runs the daemon as a user other than root, as the image and the unit do. Every renderer must have namespaces
// and a system call filter.
func TestSandboxIsOnUnlessRoot(t *testing.T) {
	program := needPlainProgram(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else; for others, all tests with a browser have the sandbox")
	}
	home := nobodysHome(t, program)
	run := func(args ...string) (string, error) {
		text, err := asNobody(t, home, "", args...).CombinedOutput()
		return string(text), err
	}
	switch said, err := run("doctor"); {
	case strings.Contains(said, "fail  sandbox") && strings.Contains(said, browser.ErrNoSandbox.Error()):
		t.Skipf("this machine refuses user namespaces:\n%s", said)
	case err != nil || !strings.Contains(said, "ok    sandbox   the browser starts"):
		t.Fatalf("domtap doctor: %v: %s", err, said)
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
	for pid, status := range found {
		if len(strings.Fields(status["NSpid"])) < 2 || strings.TrimSpace(status["Seccomp"]) != "2" {
			t.Errorf("a renderer has the process ids %q and the filter %q: %d", status["NSpid"], status["Seccomp"], pid)
		}
	}
}

// nobodysHome returns a directory of the user nobody that contains the program.
func nobodysHome(t *testing.T, program string) string {
	t.Helper()
	home, err := os.MkdirTemp("", "dt") // short, because it contains a socket
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
	return home
}

// asNobody returns a command line of the program for the user nobody. A shell first runs the commands in setup.
func asNobody(t *testing.T, home, setup string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, "domtap"), args...)
	if setup != "" {
		cmd = exec.CommandContext(t.Context(), "sh", append([]string{"-c", setup, "sh", filepath.Join(home, "domtap")}, args...)...)
	}
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DOMTAP_STATE_DIR=" + home, "GORACE=" + os.Getenv("GORACE"), "DOMTAP_CHROME=" + os.Getenv("DOMTAP_CHROME")}
	if setup == "" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// TestAMachineWithoutNamespacesSaysSo runs commands where no user may create a namespace, as in most containers. They must fail immediately
// with the message of the browser, and the doctor must explain the reason.
func TestAMachineWithoutNamespacesSaysSo(t *testing.T) {
	program := needPlainProgram(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	home := nobodysHome(t, program)
	run := func(args ...string) (string, int) {
		t.Helper()
		before := "echo 0 >/proc/sys/user/max_user_namespaces && exec " + setpriv + " --reuid 65534 --regid 65534 --clear-groups \"$@\""
		cmd := asNobody(t, home, before, args...)
		all := []syscall.SysProcIDMap{{Size: 1 << 16}}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
		text, err := cmd.CombinedOutput()
		if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
			t.Skipf("this machine refuses a user namespace to refuse others in: %v", err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	said, code := run("open", "about:blank", "--timeout", "5m")
	if code != exit.Unavailable || !strings.Contains(said, "the daemon cannot start") || !strings.Contains(said, "No usable sandbox") {
		t.Errorf("domtap open: exit code %d: %s", code, said)
	}
	said, code = run("doctor")
	if code != exit.Failure || !strings.Contains(said, "fail  sandbox   ") || !strings.Contains(said, "allow user namespaces") {
		t.Errorf("domtap doctor: exit code %d: %s", code, said)
	}
	said, code = run("doctor", "--chrome-flag", "no-sandbox")
	if code != exit.OK || !strings.Contains(said, "warn  sandbox   turned off") {
		t.Errorf("domtap doctor --chrome-flag no-sandbox: exit code %d: %s", code, said)
	}
}

// renderers returns the status fields of proc_pid_status(5) for each renderer of a browser whose profile is below a directory. Renderers
// are found by the process group of the browser, because with the headless shell only the browser itself names the profile.
func renderers(dir string) map[int]map[string]string {
	found := map[int]map[string]string{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range lines {
		leader, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // the pattern matches only numbers
		if line, err := os.ReadFile(path); err != nil || !bytes.Contains(line, []byte("="+dir)) {
			continue
		}
		for _, pid := range testenv.Group(leader) {
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || !bytes.Contains(line, []byte("--type=renderer")) {
				continue
			}
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				continue // the process has ended
			}
			found[pid] = map[string]string{}
			for row := range strings.Lines(string(text)) {
				name, value, _ := strings.Cut(row, ":")
				found[pid][name] = value
			}
		}
	}
	return found
}
