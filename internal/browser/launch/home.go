package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// home is the directory of one running browser. It holds a note that names the owner, and the profile unless that is kept elsewhere. A
// daemon that starts finds the homes whose owner died, kills the processes that still run in them, and removes them. Thus leftovers of a
// kill -9 last until the next start.
type home struct {
	dir     string
	profile string
	// temp is the directory for the browser's temporary files and crash dumps.
	temp string
	// browser is the leader of the browser's process group. It is zero before the browser starts.
	browser process
}

// owner is the content of a home's note.
type owner struct {
	Daemon  process `json:"daemon"`
	Browser process `json:"browser"`
	Profile string  `json:"profile"`
	Temp    string  `json:"temp,omitzero"`
}

// process is a process ID with its start time, which detects a reused ID.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

const ownerFile = "owner.json"

// newHome creates a home and removes the homes of dead daemons.
func newHome(cfg Config) (*home, error) {
	root := cfg.StateDir
	if root == "" {
		root = filepath.Join(os.TempDir(), fmt.Sprintf("domtap-%d", os.Getuid()))
	}
	root = filepath.Join(root, "browsers")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("making the browser's directory: %w", err)
	}
	if err := Sweep(root); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(root, "b")
	if err != nil {
		return nil, fmt.Errorf("making the browser's directory: %w", err)
	}
	h := &home{dir: dir, profile: cfg.UserDataDir}
	if h.profile == "" {
		h.profile = filepath.Join(dir, "profile")
	}
	if h.temp, err = makeTemp(dir); err != nil {
		return nil, errors.Join(err, removeAll(dir))
	}
	return h, h.writeOwner(0)
}

// The browser creates a socket below its temporary directory. The kernel limits the length of a socket's path, including the final zero
// byte, to 104 bytes on macOS and 108 on Linux.
const (
	maxSocketPath = 103
	socketSuffix  = "/org.chromium.Chromium.XXXXXX/SingletonSocket"
	tempPrefix    = "domtap-browser-"
)

// makeTemp creates the directory for a browser's temporary files. It uses the home, or, if that path is too long for a socket, the system's
// temporary directory, or, if that is too long as well, /tmp.
func makeTemp(dir string) (string, error) {
	temp := filepath.Join(dir, "tmp")
	if len(temp)+len(socketSuffix) > maxSocketPath {
		base := os.TempDir()
		const digits = 10 // appended by os.MkdirTemp
		if len(filepath.Join(base, tempPrefix))+digits+len(socketSuffix) > maxSocketPath && isDir("/tmp") {
			base = "/tmp"
		}
		temp, err := os.MkdirTemp(base, tempPrefix)
		if err != nil {
			return "", fmt.Errorf("making the browser's directory for temporary files: %w", err)
		}
		return temp, nil
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", fmt.Errorf("making the browser's directory for temporary files: %w", err)
	}
	return temp, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// secretVariables lists words in the names of environment variables whose values may be secrets. The browser needs none of them.
var secretVariables = []string{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"}

// environment returns the browser's environment: own, which is the daemon's environment, without settings of domtap and telemetry and
// without secrets. It adds variables that keep temporary files and crash dumps inside temp, so that nothing is left elsewhere if the
// browser is killed.
func (h *home) environment(own []string) []string {
	out := slices.DeleteFunc(slices.Clone(own), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
		return strings.HasPrefix(name, "DOMTAP_") || strings.HasPrefix(name, "OTEL_") ||
			slices.ContainsFunc(secretVariables, func(word string) bool { return strings.Contains(name, word) })
	})
	return append(out, "TMPDIR="+h.temp, "BREAKPAD_DUMP_LOCATION="+filepath.Join(h.temp, "crashes"))
}

// removeTemp deletes a temporary directory outside the home. It ignores directories without tempPrefix.
func removeTemp(temp string) error {
	if !strings.HasPrefix(filepath.Base(temp), tempPrefix) {
		return nil
	}
	return removeAll(temp)
}

// writeOwner writes the file that identifies the home's owner.
func (h *home) writeOwner(browser int) error {
	o := owner{Daemon: identify(os.Getpid()), Profile: h.profile, Temp: h.temp}
	if browser > 0 {
		h.browser = identify(browser)
		o.Browser = h.browser
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, ownerFile)
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("noting the browser's owner: %w", err)
	}
	return os.Rename(path+".new", path)
}

// remove kills the remaining processes of the home and deletes it.
func (h *home) remove() error {
	endProcesses(h.browser, h.profile, h.dir, h.temp)
	return errors.Join(removeTemp(h.temp), removeAll(h.dir))
}

// endProcesses kills the remaining processes of a browser: its process group, and processes whose command lines contain its directories,
// such as crash handlers. The children of the headless shell name no directory. endProcesses waits, for a bounded time, until the processes
// are gone, because a dying process could create its directory again.
func endProcesses(browser process, dirs ...string) {
	if start := startTime(browser.PID); start != "" && start != browser.Start { // the ID was reused by another process
		browser = process{}
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
	for range 100 {
		left := processesOf(browser.PID, dirs)
		if len(left) == 0 {
			return
		}
		killAll(left)
		time.Sleep(10 * time.Millisecond)
	}
}

// Sweep kills the browsers below root whose daemon died, and removes their homes.
func Sweep(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("looking for browsers of dead daemons: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		raw, err := os.ReadFile(filepath.Join(dir, ownerFile))
		if err != nil {
			// The note is written right after its home is created. Spare homes that are still being created.
			if info, serr := os.Stat(dir); serr == nil && time.Since(info.ModTime()) > time.Minute {
				errs = append(errs, removeAll(dir))
			}
			continue
		}
		var o owner
		if json.Unmarshal(raw, &o) != nil || alive(o.Daemon) {
			continue
		}
		if alive(o.Browser) {
			killGroup(o.Browser.PID)
		} else {
			o.Browser = process{} // its process group ID may have been reused
		}
		endProcesses(o.Browser, o.Profile, dir, o.Temp)
		errs = append(errs, removeTemp(o.Temp), removeAll(dir))
	}
	return errors.Join(errs...)
}

// removeAll deletes a directory. It retries, because a dying process may still write to the directory.
func removeAll(dir string) error {
	var err error
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		// A killed process is gone only after the kernel has reaped its threads.
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("removing %s: %w", dir, err)
}

// identify returns the identity of a running process.
func identify(pid int) process {
	return process{PID: pid, Start: startTime(pid)}
}

// alive reports whether the process is still running.
func alive(p process) bool {
	return p.PID > 0 && startTime(p.PID) == p.Start && running(p.PID)
}

// processesOf returns the processes of a group, unless group is 0, and the processes whose command lines contain one of dirs or a path
// below it. It skips zombies. The group is needed because a command line is empty for an instant while a process executes another program
// (execve(2)).
func processesOf(group int, dirs []string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if group > 0 && groupOf(pid) == group && !ended(pid) || hasFlagIn(pid, dirs) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasFlagIn reports whether a flag in the command line of a process has one of dirs, or a path below it, as its value.
func hasFlagIn(pid int, dirs []string) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && slices.ContainsFunc(dirs, func(dir string) bool { return bytes.Contains(raw, []byte("="+dir)) })
}
