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

// home is the directory of one running browser: its profile, unless that is kept elsewhere, and a note
// of who owns it. A daemon that starts finds the homes whose owner died, ends what still runs
// in them, and removes them: nothing survives a kill -9 for longer than that.
type home struct {
	dir     string
	profile string
	// temp is where the browser puts its temporary files, and what it may leave of a crash.
	temp string
	// browser is the process that leads the browser's group; the zero value before it is started.
	browser process
}

// owner is the note in a home.
type owner struct {
	Daemon  process `json:"daemon"`
	Browser process `json:"browser"`
	Profile string  `json:"profile"`
	Temp    string  `json:"temp,omitzero"`
}

// process is a process id with the time when it started, so that a reused id is not mistaken.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

const noteName = "owner.json"

// newHome makes a home and cleans up those of dead daemons.
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
	return h, h.note(0)
}

// The browser makes a socket below its directory for temporary files, whose path the kernel bounds: 104 bytes with the
// zero behind it on macOS, 108 on Linux.
const (
	maxSocketPath = 103
	socketSuffix  = "/org.chromium.Chromium.XXXXXX/SingletonSocket"
	tempPrefix    = "domtap-browser-"
)

// makeTemp makes the directory for a browser's temporary files: in its home, or in the system's where the path of that is too
// long for a socket, or in /tmp where the path of that is, too.
func makeTemp(dir string) (string, error) {
	temp := filepath.Join(dir, "tmp")
	if len(temp)+len(socketSuffix) > maxSocketPath {
		base := os.TempDir()
		const digits = 10 // of os.MkdirTemp
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

// secretVariables are in the names of variables that the browser has no use for, and whose values may be secrets.
var secretVariables = []string{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"}

// environment returns the browser's variables: those of own, which is the daemon's environment, without the settings of domtap
// and of telemetry and without secrets. Then the variables that say where the browser puts what it would leave behind when it is
// killed: files in the system's directory for temporary files, and reports of crashes in the user's home.
func (h *home) environment(own []string) []string {
	out := slices.DeleteFunc(slices.Clone(own), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
		return strings.HasPrefix(name, "DOMTAP_") || strings.HasPrefix(name, "OTEL_") ||
			slices.ContainsFunc(secretVariables, func(word string) bool { return strings.Contains(name, word) })
	})
	return append(out, "TMPDIR="+h.temp, "BREAKPAD_DUMP_LOCATION="+filepath.Join(h.temp, "crashes"))
}

// removeTemp deletes a directory for temporary files that is not in the home; what another note names is left alone.
func removeTemp(temp string) error {
	if !strings.HasPrefix(filepath.Base(temp), tempPrefix) {
		return nil
	}
	return removeAll(temp)
}

// note writes down who owns the home.
func (h *home) note(browser int) error {
	o := owner{Daemon: identify(os.Getpid()), Profile: h.profile, Temp: h.temp}
	if browser > 0 {
		h.browser = identify(browser)
		o.Browser = h.browser
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, noteName)
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("noting the browser's owner: %w", err)
	}
	return os.Rename(path+".new", path)
}

// remove ends what is left in the home and deletes it.
func (h *home) remove() error {
	endProcesses(h.browser, h.profile, h.dir, h.temp)
	return errors.Join(removeTemp(h.temp), removeAll(h.dir))
}

// endProcesses ends what is left of a browser: the processes of its group, and those whose command lines name its directories, such
// as those that handle crashes. The children of the headless shell name none. It waits, for a bounded time, until the kernel is
// done with them: one that is dying could make its directory again.
func endProcesses(browser process, dirs ...string) {
	if start := startTime(browser.PID); start != "" && start != browser.Start { // another process has the number by now
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

// Sweep ends the browsers below root whose daemon died without ending them, and removes their homes.
func Sweep(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("looking for browsers of dead daemons: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		raw, err := os.ReadFile(filepath.Join(dir, noteName))
		if err != nil {
			// A home is noted right after it is made: give one that is just being made its time.
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
			o.Browser = process{} // its group may be another's by now
		}
		endProcesses(o.Browser, o.Profile, dir, o.Temp)
		errs = append(errs, removeTemp(o.Temp), removeAll(dir))
	}
	return errors.Join(errs...)
}

// removeAll deletes a directory that a dying process may still write to.
func removeAll(dir string) error {
	var err error
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		// A process that was killed is gone when the kernel has reaped its threads.
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("removing %s: %w", dir, err)
}

// identify names a running process.
func identify(pid int) process {
	return process{PID: pid, Start: startTime(pid)}
}

// alive reports whether the process still runs.
func alive(p process) bool {
	return p.PID > 0 && startTime(p.PID) == p.Start && running(p.PID)
}

// processesOf lists the processes of a group, if it is not 0, and those whose command line names one of the directories, or something
// in it. Zombies are left out: there is nothing to end. The group does not depend on the command line, which is empty for an instant
// while a process executes another program (execve(2)).
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
		if group > 0 && groupOf(pid) == group && !ended(pid) || namesOneOf(pid, dirs) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// namesOneOf reports whether the command line of a process has one of the directories, or something in it, as the value of a flag.
func namesOneOf(pid int, dirs []string) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && slices.ContainsFunc(dirs, func(dir string) bool { return bytes.Contains(raw, []byte("="+dir)) })
}
