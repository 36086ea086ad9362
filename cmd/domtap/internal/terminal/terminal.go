// Package terminal stores the tabs that each terminal opened. A command thus works on a tab of its own terminal, and never on a tab that
// another program opened.
//
// A terminal is a session of processes (setsid(2)), or a console on Windows. Each terminal has a small file in the state directory of the
// daemon. The file also contains the ID of the daemon, because the next daemon reuses the tab IDs for other tabs.
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
	// maxTabs limits the tabs stored per terminal, and maxFiles the terminals stored per daemon.
	maxTabs  = 32
	maxFiles = 256
	// maxAge is how long a terminal is stored after it last opened or closed a tab.
	maxAge = 30 * 24 * time.Hour
	// maxSize limits the size of a file in bytes.
	maxSize = 64 << 10
)

// Tab is a tab that a terminal opened.
type Tab struct {
	ID string `json:"id"`
	// Restored reports whether the tab keeps its ID in the next daemon.
	Restored bool `json:"restored,omitempty"`
}

// Tabs holds the tabs that a terminal opened and did not close.
type Tabs struct {
	// Daemon is the ID of the daemon that has the tabs.
	Daemon string `json:"daemon"`
	// Opened lists the tabs in the order of opening.
	Opened []Tab `json:"opened"`
}

// Last returns the tab that was opened last. ok is false if there is none.
func (t Tabs) Last() (tab Tab, ok bool) {
	if len(t.Opened) == 0 {
		return Tab{}, false
	}
	return t.Opened[len(t.Opened)-1], true
}

// Memory stores the tabs of one terminal. A nil Memory stores nothing.
type Memory struct{ dir, file string }

// MemoryOf returns the memory of a terminal for the daemon at an address. stateDir is the daemon's state directory. key is the result of
// Key in the terminal.
func MemoryOf(stateDir, address, key string) *Memory {
	sum := sha256.Sum256([]byte(address + "\x00" + key))
	dir := filepath.Join(stateDir, "terminals")
	return &Memory{dir: dir, file: filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")}
}

// ClientID returns the ID of a terminal for calls to the daemon, which tracks the elements that each client has seen. It returns an empty
// string for an empty key.
func ClientID(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return "terminal-" + hex.EncodeToString(sum[:16])
}

// Load returns the stored tabs. An unreadable file counts as missing.
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

// Opened stores a tab as the one that the terminal opened last. It deletes tabs of another daemon.
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

// Restored stores whether a tab of the terminal keeps its ID in the next daemon.
func (m *Memory) Restored(id string, restored bool) error {
	tabs := m.Load()
	i := slices.IndexFunc(tabs.Opened, func(tab Tab) bool { return tab.ID == id })
	if i < 0 || tabs.Opened[i].Restored == restored {
		return nil
	}
	tabs.Opened[i].Restored = restored
	return m.save(tabs)
}

// Closed deletes a tab that the terminal closed. The tab opened before it becomes the last one.
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

// save replaces the file atomically.
func (m *Memory) save(tabs Tabs) error {
	if m == nil {
		return nil
	}
	text, err := json.Marshal(tabs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("store the tab of this terminal: %w", err)
	}
	f, err := os.CreateTemp(m.dir, "new")
	if err != nil {
		return fmt.Errorf("store the tab of this terminal: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), m.file)
	}
	if err != nil {
		return fmt.Errorf("store the tab of this terminal: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return sweep(m.dir)
}

// sweep removes the files of terminals that are too old, and the oldest if there are too many.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove old terminals: %w", err)
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
