//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// install creates executables and sets PATH to their directory.
func install(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

// TestFindPrefersTheShellWithoutWindows installs browsers and searches for one with windows and one without.
func TestFindPrefersTheShellWithoutWindows(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("browsers have fixed places here")
	}
	for _, c := range []struct {
		installed        []string
		hidden, windowed string
	}{
		{[]string{"chromium", "chromium-headless-shell"}, "chromium-headless-shell", "chromium"},
		{[]string{"google-chrome", "chrome-headless-shell"}, "chrome-headless-shell", "google-chrome"},
		{[]string{"chromium", "google-chrome"}, "chromium", "chromium"},
		{[]string{"headless-shell"}, "headless-shell", ""},
		{nil, "", ""},
	} {
		scripts := map[string]string{}
		for _, name := range c.installed {
			scripts[name] = "#!/bin/sh\n"
		}
		dir := install(t, scripts)
		for headless, want := range map[bool]string{true: c.hidden, false: c.windowed} {
			got, err := Find("", headless)
			switch {
			case want != "":
				if got != filepath.Join(dir, want) || err != nil {
					t.Errorf("%q, headless %t: found %s, %v, want %s", c.installed, headless, got, err, want)
				}
			case c.installed == nil:
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("nothing is installed: found %s, %v", got, err)
				}
			case err == nil || !strings.Contains(err.Error(), "has no windows: install the full browser"):
				t.Errorf("%q, headless %t: found %s, %v", c.installed, headless, got, err)
			}
		}
	}
}

// TestFindTakesTheProgramThatAScriptRuns checks wrapper scripts and other scripts.
func TestFindTakesTheProgramThatAScriptRuns(t *testing.T) {
	dir := install(t, map[string]string{
		"real":    "\x7fELF",
		"debian":  "#!/bin/sh -e\n\nDIR/real \"$@\"\n",
		"exec":    "#!/bin/sh\n# runs it\nexec \"DIR/real\" \"$@\"",
		"options": "#!/bin/sh\nDIR/real --flag \"$@\"\n",
		"more":    "#!/bin/sh\nexport A=1\nDIR/real \"$@\"\n",
		"twice":   "#!/bin/sh\nDIR/real \"$@\"\nDIR/real \"$@\"\n",
		"gone":    "#!/bin/sh\nDIR/none \"$@\"\n",
		"empty":   "#!/bin/sh\n",
		"long":    "#!/bin/sh\n" + strings.Repeat("#", maxWrapper) + "\nDIR/real \"$@\"\n",
	})
	for name, want := range map[string]string{
		"real": "real", "debian": "real", "exec": "real", "options": "options", "more": "more", "twice": "twice", "gone": "gone", "empty": "empty", "long": "long",
	} {
		if got, err := Find(filepath.Join(dir, name), true); got != filepath.Join(dir, want) || err != nil {
			t.Errorf("%s: found %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := Find(filepath.Join(dir, "none"), true); err == nil || !strings.Contains(err.Error(), "DOMTAP_CHROME") {
		t.Errorf("nothing is there: %v", err)
	}
}
