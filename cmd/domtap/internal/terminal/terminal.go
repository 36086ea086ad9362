// Package terminal remembers the tabs that each terminal opened, so that a command works on a tab of its own terminal and
// never on one that another program opened.
//
// A terminal is a session of processes (setsid(2)); on Windows it is a console. Each has a small file in the state directory
// of the daemon's instance. The file names the daemon too, because the next daemon gives the same ids to other tabs.
package terminal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// maxTabs is how many tabs are remembered of a terminal, maxFiles how many terminals of an instance.
	maxTabs  = 32
	maxFiles = 256
	// maxAge is how long a terminal is remembered after it opened or closed its last tab.
	maxAge = 30 * 24 * time.Hour
	// maxSize is how large a file may be, in bytes.
	maxSize = 64 << 10
)

// Tab is a tab that a terminal opened.
type Tab struct {
	ID string `json:"id"`
	// Restored says that the tab has the same id in the daemon that comes after.
	Restored bool `json:"restored,omitempty"`
}

// Tabs are the tabs that a terminal opened and did not close.
type Tabs struct {
	// Daemon is the daemon that has them.
	Daemon string `json:"daemon"`
	// Opened has the last one last.
	Opened []Tab `json:"opened"`
}

// Last is the tab that was opened last; ok is false when there is none.
func (t Tabs) Last() (tab Tab, ok bool) {
	if len(t.Opened) == 0 {
		return Tab{}, false
	}
	return t.Opened[len(t.Opened)-1], true
}

// Memory is what is remembered of one terminal. A nil Memory remembers nothing.
type Memory struct{ dir, file string }

// Of returns the memory of a terminal for the daemon at an address. The directory is the instance's; the key is the one that
// Key returns in the terminal.
func Of(stateDir, address, key string) *Memory {
	sum := sha256.Sum256([]byte(address + "\x00" + key))
	dir := filepath.Join(stateDir, "terminals")
	return &Memory{dir: dir, file: filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")}
}

// ClientID names a terminal to the daemon, which remembers what each client was told of a page; empty for an empty key.
func ClientID(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return "terminal-" + hex.EncodeToString(sum[:16])
}

// Load returns what is remembered. A file that cannot be read is as good as none.
func (m *Memory) Load() Tabs {
	if m == nil {
		return Tabs{}
	}
	info, err := os.Stat(m.file)
	if err != nil || info.Size() > maxSize || time.Since(info.ModTime()) > maxAge {
		return Tabs{}
	}
	text, err := os.ReadFile(m.file)
	var tabs Tabs
	if err != nil || json.Unmarshal(text, &tabs) != nil {
		return Tabs{}
	}
	return tabs
}

// Opened remembers a tab as the one that the terminal opened last. Tabs of another daemon are forgotten.
func (m *Memory) Opened(daemon string, tab Tab) error {
	tabs := m.Load()
	if tabs.Daemon != daemon {
		tabs = Tabs{Daemon: daemon}
	}
	tabs = tabs.without(tab.ID)
	tabs.Opened = append(tabs.Opened, tab)
	tabs.Opened = tabs.Opened[max(0, len(tabs.Opened)-maxTabs):]
	return m.save(tabs)
}

// Restored remembers whether a tab of the terminal has the same id in the daemon that comes after.
func (m *Memory) Restored(id string, restored bool) error {
	tabs := m.Load()
	i := slices.IndexFunc(tabs.Opened, func(tab Tab) bool { return tab.ID == id })
	if i < 0 || tabs.Opened[i].Restored == restored {
		return nil
	}
	tabs.Opened[i].Restored = restored
	return m.save(tabs)
}

// Closed forgets a tab that the terminal itself has closed. The one that it opened before is the last one then.
func (m *Memory) Closed(id string) error {
	tabs := m.Load()
	if left := tabs.without(id); len(left.Opened) != len(tabs.Opened) {
		return m.save(left)
	}
	return nil
}

func (t Tabs) without(id string) Tabs {
	t.Opened = slices.DeleteFunc(slices.Clone(t.Opened), func(tab Tab) bool { return tab.ID == id })
	return t
}

// save replaces the file, which readers see whole at any time.
func (m *Memory) save(tabs Tabs) error {
	if m == nil {
		return nil
	}
	text, err := json.Marshal(tabs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("remember the tab of this terminal: %w", err)
	}
	f, err := os.CreateTemp(m.dir, "new")
	if err != nil {
		return fmt.Errorf("remember the tab of this terminal: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), m.file)
	}
	if err != nil {
		return fmt.Errorf("remember the tab of this terminal: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return sweep(m.dir)
}

// sweep removes the files of terminals that opened nothing for long, and the oldest where there are many.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("forget terminals of before: %w", err)
	}
	var infos []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // another process may have removed it
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var errs []error
	for i, info := range infos {
		if i >= maxFiles || time.Since(info.ModTime()) > maxAge {
			if err := os.Remove(filepath.Join(dir, info.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
