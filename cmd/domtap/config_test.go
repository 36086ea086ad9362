package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// withConfig runs domtap config with a file in a separate state directory.
func withConfig(t *testing.T, file string, env map[string]string, args ...string) result {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": dir}}
	for name, value := range env {
		cmd.env[name] = value
	}
	got := cmd.run(t, append([]string{"config"}, args...)...)
	got.out, got.errors = strings.ReplaceAll(got.out, dir, "DIR"), strings.ReplaceAll(got.errors, dir, "DIR")
	return got
}

func TestTheNearestSettingCounts(t *testing.T) {
	file := "max-tabs = 1\nmax-sessions = 2\nupload-dir = /a\nupload-dir = /b c\nmailbox = 5\n"
	got := withConfig(t, file, map[string]string{"DOMTAP_MAX_SESSIONS": "3", "DOMTAP_MAILBOX": "6"}, "--mailbox", "7")
	want := `# $DOMTAP_MAX_SESSIONS
max-sessions: 3
# DIR/config:1
max-tabs: 1
# DIR/config:4
upload-dir:
    - /a
    - /b c
`
	if got.code != exit.OK || !strings.Contains(got.out, want[:40]) || !strings.Contains(got.out, "# the command line\nmailbox: 7\n") {
		t.Fatalf("got %+v", got)
	}
	for _, part := range strings.SplitAfter(want, "\n# ") {
		part = strings.TrimSuffix(part, "\n# ")
		if !strings.Contains(got.out, part) {
			t.Errorf("%q is not in\n%s", part, got.out)
		}
	}
	if strings.Contains(got.out, "log-level") {
		t.Errorf("a default is printed:\n%s", got.out)
	}
}

func TestTheOutputOfConfigIsAFile(t *testing.T) {
	file := "max-tabs = 1\nweb-origin = http://a.example\nweb-origin = http://b.example\nui = true\nlisten =\ntab-idle = 1h30m\n"
	first := withConfig(t, file, nil, "--all")
	again := withConfig(t, strings.ReplaceAll(first.out, "state-dir: DIR\n", ""), nil)
	for _, line := range []string{"max-tabs: 1", "    - http://a.example", "    - http://b.example", "ui: true", "listen:", "tab-idle: 1h30m0s"} {
		if !strings.Contains(again.out, "\n"+line+"\n") {
			t.Errorf("%q was lost: %d, %s\n%s", line, again.code, again.errors, again.out)
		}
	}
}

func TestABadFileIsAUsageErrorThatNamesTheLine(t *testing.T) {
	for file, want := range map[string]string{
		"\nmax-tab = 1":          `the configuration file DIR/config: line 2: unknown setting "max-tab": did you mean max-tabs?`,
		"max-tabs = many":        `DIR/config:1: invalid max-tabs "many"`,
		"on-demand = true":       `line 1: unknown setting "on-demand"`,
		"config = /etc/other":    `line 1: unknown setting "config"`,
		"max-tabs = 0":           "--max-tabs 0 is less than 1",
		"max-tabs = 1\nnonsense": "line 2: not NAME = VALUE",
		"max-tabs: [1, 2]":       "line 1: max-tabs is set in line 1 already",
		"max-tabs: {a: 1}":       "line 1: a setting has a value or a list of values",
		"# x\nmax-tab: 1":        `line 2: unknown setting "max-tab": did you mean max-tabs?`,
	} {
		if got := withConfig(t, file, nil); got.code != exit.Usage || !strings.Contains(got.errors, want) {
			t.Errorf("%q: got %+v", file, got)
		}
	}
}

func TestANamedFileMustBeThereAndBeTheOwnersAlone(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if got := withConfig(t, "", nil, "--config", missing); got.code != exit.Usage || !strings.Contains(got.errors, missing) {
		t.Errorf("got %+v", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o620); err != nil {
		t.Fatal(err)
	}
	if got := withConfig(t, "", map[string]string{"DOMTAP_CONFIG": open}); got.code != exit.Usage || !strings.Contains(got.errors, "chmod go-w") {
		t.Errorf("got %+v", got)
	}
}

func TestSecretsInAddressesAreMasked(t *testing.T) {
	got := withConfig(t, "remote = wss://me:hidden@grid.example/x?token=hidden\nchrome-flag = proxy-server=http://me:hidden@proxy:1\n", nil)
	if strings.Contains(got.out, "hidden") || !strings.Contains(got.out, "- wss://***@grid.example/x?***") {
		t.Errorf("got %+v", got)
	}
}
