// Package agents tests the agents of examples/, which use third-party frameworks, with domtap mcp, a real daemon and a browser. Their
// models are scripts that react to the output of the tools.
package agents

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// limit limits the time of an agent on a very slow machine.
const limit = 3 * time.Minute

// installed returns the directory of scripts/install-agents. If it was not run, the test is skipped; in CI it fails.
func installed(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".cache", "agents", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "stamp")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the agents of examples/ are not installed: run scripts/install-agents")
		}
		t.Skip("the agents of examples/ are not installed: run scripts/install-agents")
	}
	return dir
}

// Each agent opens a page, clicks the button by the ref that it received, and reports the resulting text of the page.
func TestAgentsWorkWithDomtap(t *testing.T) {
	testenv.NeedBrowser(t)
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Shop</title><h1>Things</h1><button>Later</button>
		<button onclick="document.body.append(Object.assign(document.createElement('p'), {role: 'status', textContent: 'Thanks for 42'}))">Pay now</button>`)})
	for _, name := range []string{"vercel-ai", "langchain"} {
		t.Run(name, func(t *testing.T) {
			dir := installed(t, name)
			state, err := os.MkdirTemp("", "dt") // short, because the paths of sockets are limited
			if err != nil {
				t.Fatal(err)
			}
			program := testenv.Program(t)
			env := append(os.Environ(), "DOMTAP_STATE_DIR="+state, "DOMTAP_LISTEN=")
			t.Cleanup(func() {
				stop := exec.Command(program, "stop")
				stop.Env = env
				if text, err := stop.CombinedOutput(); err != nil {
					t.Errorf("domtap stop: %v\n%s", err, text)
				}
				_ = os.RemoveAll(state) // only a temporary directory
			})
			if text, err := runAgent(t, dir, env, program, url); err != nil || text != "Thanks for 42" {
				t.Errorf("the agent said %q, %v", text, err)
			}
			tabs := exec.CommandContext(t.Context(), program, "tabs", "--json")
			tabs.Env = env
			if text, err := tabs.Output(); err != nil || strings.Contains(string(text), `"id"`) {
				t.Errorf("tabs are left: %s, %v", text, err)
			}
		})
	}
}

// runAgent runs an agent and returns its final answer. The output goes to a file, because the daemon that it starts may keep a pipe open.
func runAgent(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	node := exec.CommandContext(ctx, testenv.Node(t), append([]string{filepath.Join(dir, "scripted.mjs")}, args...)...)
	node.Env, node.Stdout, node.Stderr = env, out, out
	failed := node.Run()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), failed
}
