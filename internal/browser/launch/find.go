package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Missing is the error for a browser that cannot be used. What describes the problem and Remedy what to do about it.
type Missing struct{ What, Remedy string }

// Error returns both in one line.
func (m *Missing) Error() string { return m.What + ": " + m.Remedy }

// ErrNotFound reports that no browser is installed.
var ErrNotFound = &Missing{"no Chromium found", "install it (Debian: apt install chromium; macOS: brew install --cask chromium), or set DOMTAP_CHROME to the path of one"}

// headlessShells lists the names of the headless shell: in Debian, in Chrome for Testing, and in custom builds.
var headlessShells = []string{"chromium-headless-shell", "chrome-headless-shell", "headless-shell", "headless_shell"}

// fullBrowsers lists the names and paths of full browsers.
var fullBrowsers = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	`C:\Program Files\Google\Chrome\Application\chrome.exe`,
	`C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`,
}

// Find returns the path of the browser to use: path if it is set and executable, else the first installed browser. If headless is set, Find
// prefers the headless shell, which starts faster and uses less memory. Otherwise the browser must be a full one.
func Find(path string, headless bool) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", &Missing{fmt.Sprintf("no browser at %q: %v", path, err), "correct the path (DOMTAP_CHROME, or --chrome of domtap serve), or remove the setting and install Chromium"}
		}
		return program(found), nil
	}
	shell, full := first(headlessShells), first(fullBrowsers)
	switch {
	case headless && shell != "":
		return shell, nil
	case full != "":
		return full, nil
	case shell != "":
		return "", noWindowsError(shell)
	}
	return "", ErrNotFound
}

// first returns the path of the first installed program, or an empty string.
func first(names []string) string {
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return program(found)
		}
	}
	return ""
}

// noWindowsError returns the error for a headless shell that was asked to show windows.
func noWindowsError(path string) error {
	return &Missing{path + " is the headless shell, which has no windows",
		"install the full browser (Debian: apt install chromium), set DOMTAP_CHROME to the path of one, or leave out --headless=false of domtap serve"}
}

// IsShell reports whether a path names a headless shell.
func IsShell(path string) bool {
	name := filepath.Base(path)
	return strings.Contains(name, "headless-shell") || strings.Contains(name, "headless_shell")
}

const maxWrapper = 4 << 10

// wrapper matches the last line of a shell script that only runs another program with all its arguments.
var wrapper = lazyregexp.New(`^(?:exec )?"?(/[^\s"'$\\]+)"? "\$@"$`)

// program returns the program that a wrapper script runs, such as Debian's chromium-headless-shell. For anything else it returns path.
// Without this, a script that waits for its browser would be watched, counted and killed in the browser's place.
func program(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return path
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxWrapper+1))
	if err != nil || len(text) > maxWrapper || !strings.HasPrefix(string(text), "#!") {
		return path
	}
	var runs string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if match := wrapper().FindStringSubmatch(line); runs == "" && match != nil {
			runs = match[1]
			continue
		}
		return path
	}
	if runs == "" {
		return path
	}
	if found, err := exec.LookPath(runs); err == nil {
		return found
	}
	return path
}
