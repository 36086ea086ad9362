package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// home is the directory of one running browser: its profile, unless that is kept elsewhere, and a note
// of who owns it. A daemon that starts finds the homes whose owner died, ends what still runs
// in them, and removes them: nothing survives a kill -9 for longer than that.
type home struct {
	dir     string
	profile string
}

// owner is the note in a home.
type owner struct {
	Daemon  process `json:"daemon"`
	Browser process `json:"browser"`
	Profile string  `json:"profile"`
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
	return h, h.note(0)
}

// note writes down who owns the home.
func (h *home) note(browser int) error {
	o := owner{Daemon: identify(os.Getpid()), Profile: h.profile}
	if browser > 0 {
		o.Browser = identify(browser)
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
	endUsing(h.profile)
	return removeAll(h.dir)
}

// endUsing ends the processes of a profile and waits, for a bounded time, until the kernel is done with
// them: one that is dying could make its directory again.
func endUsing(profile string) {
	for range 100 {
		if len(using(profile)) == 0 {
			return
		}
		killUsing(profile)
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
		}
		endUsing(o.Profile)
		errs = append(errs, removeAll(dir))
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

// using lists the processes whose command line names the profile.
func using(profile string) []int {
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
		raw, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && bytes.Contains(raw, []byte("="+profile)) && bytes.Contains(raw, []byte{0}) {
			pids = append(pids, pid)
		}
	}
	return pids
}
