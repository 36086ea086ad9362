package clients

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/client"
	"github.com/domtap/domtap/internal/testenv"
)

// ticker is a page that starts to change when it is loaded.
const ticker = `<!doctype html><meta charset=utf-8><title>Ticker</title><link rel=icon href="data:,"><button>Start</button><ul id=list></ul>
<script>document.querySelector("button").onclick = e => { e.target.textContent = "Started" }
let n = 0; setInterval(() => { list.insertAdjacentHTML("beforeend", "<li><button>Row " + n++ + "</button>"); if (n > 20) list.firstChild.remove() }, 50)</script>`

// Programs that use the packages, in directories without other files, start a daemon, open, act and follow. The daemon is killed and
// replaced, and the programs must resume with the new one.
func TestPackagesResumeAtADaemonThatWasKilled(t *testing.T) {
	examples := built(t)
	testenv.NeedBrowser(t)
	page := testenv.Serve(t, testenv.HTML(ticker)) + "/"
	d := onDemand(t)
	programs := map[string]string{
		"go": goModule(t), "python": filepath.Join(examples, "python", "follow"), "typescript": filepath.Join(examples, "typescript", "follow"),
	}
	running := map[string]*program{}
	again := map[string]func() *program{}
	for name, path := range programs {
		file := filepath.Join(t.TempDir(), "state.json")
		again[name] = func() *program { return start(t, name, path, "--state", file, "--click", "Start", page) }
		running[name] = again[name]()
	}
	for name, p := range running {
		if acted := p.await("acted: ", 1); !strings.Contains(acted, "VERDICT_CHANGED, +") {
			t.Errorf("%s: %s", name, acted)
		}
		p.await("diff: ", 2)
	}
	d.kill()
	d.command("tabs") // starts the next daemon
	c, err := client.Connect(t.Context(), client.Options{StateDir: d.state})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for name, p := range running {
		p.await("lost: ", 1)
		if resync := p.await("resync: ", 1); !strings.Contains(resync, "because epoch_changed") {
			t.Errorf("%s: at the next daemon: %s", name, resync)
		}
		p.await("diff: ", 2)
		p.kill()
		p = again[name]()
		if at := p.await("following: ", 1); !strings.Contains(at, "from revision ") {
			t.Errorf("%s: %s", name, at)
		}
		p.await("diff: ", 2)
		if err := c.Tab(p.tab()).Close(t.Context()); err != nil {
			t.Error(err)
		}
		p.await("closed", 1)
		if code := p.wait(); code != 0 {
			p.fail("exit code %d", code)
		}
	}
}

// goModule builds the example in a separate module, which needs only package client of this repository.
func goModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := fmt.Sprintf("module follow.example\n\ngo 1.26.0\n\nrequire github.com/domtap/domtap v0.0.0\n\nreplace github.com/domtap/domtap => %s\n", root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"go.sum": "go.sum", "examples/go/main.go": "main.go"} {
		text, err := os.ReadFile(filepath.Join(root, from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", "follow", ".")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(dir, "follow")
}

// daemons holds the daemons of one state directory, which programs and commands start on demand.
type daemons struct {
	t              *testing.T
	program, state string
}

// onDemand lets the programs of a test find domtap in their PATH, and start daemons in a separate directory.
func onDemand(t *testing.T) *daemons {
	t.Helper()
	bin := t.TempDir()
	d := &daemons{t: t, program: filepath.Join(bin, "domtap")}
	if err := os.Symlink(testenv.Program(t), d.program); err != nil {
		t.Fatal(err)
	}
	state, err := os.MkdirTemp("", "domtap") // short, because it contains a socket
	if err != nil {
		t.Fatal(err)
	}
	d.state = state
	for name, value := range map[string]string{"PATH": bin + ":" + os.Getenv("PATH"), "DOMTAP_STATE_DIR": state, "DOMTAP_ADDR": "", "DOMTAP_LISTEN": ""} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		d.command("stop")
		_ = os.RemoveAll(state)
	})
	return d
}

func (d *daemons) command(args ...string) {
	d.t.Helper()
	cmd := exec.Command(d.program, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		d.t.Errorf("domtap %q: %v: %s", args, err, text)
	}
}

// kill ends the daemon with SIGKILL, like a power failure.
func (d *daemons) kill() {
	d.t.Helper()
	for _, pid := range testenv.PIDs(d.state) {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(line, []byte("serve\x00--on-demand")) {
			process, err := os.FindProcess(pid)
			if err == nil {
				err = process.Kill()
			}
			if err != nil {
				d.t.Fatal(err)
			}
			// Until the process has ended, its socket accepts connections and resets them.
			testenv.Await(d.t, "the end of the daemon", func() bool {
				conn, err := net.Dial("unix", filepath.Join(d.state, "domtap.sock"))
				if err == nil {
					_ = conn.Close()
				}
				return err != nil
			})
			return
		}
	}
	d.t.Fatal("no daemon runs")
}

// The installed packages pass their own tests.
func TestPackagesPassTheirOwnTests(t *testing.T) {
	examples := built(t)
	run(t, filepath.Join(examples, "python", "python"), "-m", "unittest", "discover", filepath.Join(examples, "python", "tests"))
	tests, err := filepath.Glob(filepath.Join(examples, "typescript", "node_modules", "domtap", "test", "*.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatal(tests, err)
	}
	run(t, append([]string{testenv.Node(t), "--test"}, tests...)...) // Node 22 treats a directory as a module
}
