package hour

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// agentBrowser runs agent-browser in a shell, as its documentation recommends: several commands joined by && are one call. The environment
// names the session, so that the commands need not. The tokens of pictures, which three solutions look at, do not count.
type agentBrowser struct {
	program, chromium string
	shell             *testenv.Shell
}

// agentBrowserProgram returns the native program of the package, which a global installation would run without node.
func agentBrowserProgram(installed string) string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return filepath.Join(installed, "node_modules", "agent-browser", "bin", "agent-browser-"+runtime.GOOS+"-"+arch)
}

func (b *agentBrowser) start(t *testing.T, dir, site string) {
	// The path of a socket is limited to some 100 characters, so the home is not in the test's directory.
	home, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	programs := filepath.Join(home, "bin")
	if err := os.Mkdir(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.program, filepath.Join(programs, "agent-browser")); err != nil {
		t.Fatal(err)
	}
	b.shell = &testenv.Shell{Dir: dir, Env: []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home,
		"AGENT_BROWSER_EXECUTABLE_PATH=" + b.chromium, "AGENT_BROWSER_SESSION=hour", "AGENT_BROWSER_NO_VERSION_CHECK=1",
		"PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH"), "SITE=" + site,
	}}
	if os.Geteuid() == 0 {
		b.shell.Env = append(b.shell.Env, "AGENT_BROWSER_ARGS=--no-sandbox")
	}
}

func (b *agentBrowser) call(t *testing.T, line string) string { return b.shell.Run(t, line) }

func (b *agentBrowser) close(t *testing.T) {
	if said := b.shell.Run(t, "agent-browser close"); said != "✓ Browser closed\n" {
		t.Error("agent-browser close:", said)
	}
}
