// Package journal stores on disk which tabs to restore after the process dies.
//
// What the package guarantees:
//
//   - The file always holds a complete list of tabs. Unless the disk fails, the list is at most Delay old. Each version is written next
//     to the old file, synced, and renamed. A process that is killed during that leaves the old file.
//   - A file that cannot be read is moved aside with a warning. It never prevents the start of the daemon.
//   - If the disk is full, the old file stays, one warning is logged, and the write is retried every Retry.
//   - Keep and Forget do not wait for the disk.
//   - Only the owner can read the file, because it contains URLs.
//
// Callers must provide a directory that nothing else writes to, use one Journal per file at a time, and call Close.
package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/restore"
)

const (
	// Delay limits how long a change waits to be written together with others.
	Delay = 100 * time.Millisecond
	// Retry is the time between a failed write and its retry.
	Retry = 10 * time.Second
)

// Journal is an open journal. It implements actor.RestoreStore. Its methods are safe for concurrent use.
type Journal struct {
	path   string
	logger *slog.Logger

	mu sync.Mutex
	// tabs is in the order in which the tabs were first stored.
	tabs   []restore.Record
	sealed bool
	// warned holds the tabs that cannot be stored.
	warned map[string]bool

	changed chan struct{}
	end     chan struct{}
	done    chan struct{}
}

// Open reads the journal at path and continues it. It returns the stored tabs, oldest first. They remain stored until Forget. Open never
// fails; it logs problems.
func Open(path string, logger *slog.Logger) (b *Journal, kept []restore.Record) {
	b = &Journal{path: path, logger: logger, warned: map[string]bool{}, changed: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	kept, err := read(path)
	if err != nil {
		aside := path + ".bad"
		err = errors.Join(err, os.Rename(path, aside))
		logger.Warn("the journal of tabs cannot be read and was renamed: no tab is restored", "file", aside, "error", err)
	}
	b.tabs = slices.Clone(kept)
	go b.write()
	return b, kept
}

// Remove removes the journal at path if it exists.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read reads a journal. A missing file is an empty journal.
func read(path string) ([]restore.Record, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would block
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // a close after reading cannot lose data
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// Keep implements actor.RestoreStore. If a tab cannot be stored, Keep logs that once and removes the tab.
func (b *Journal) Keep(k restore.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.tabs, func(o restore.Record) bool { return o.ID == k.ID })
	err := check(k)
	if err == nil && i < 0 && len(b.tabs) >= MaxTabs {
		err = fmt.Errorf("there are %d already", MaxTabs)
	}
	switch {
	case err != nil:
		if !b.warned[k.ID] && len(b.warned) < MaxTabs {
			b.warned[k.ID] = true
			b.logger.Warn("a tab is not in the journal: it is not restored if the daemon is killed", "tab", k.ID, "error", err)
		}
		if i >= 0 {
			b.tabs = slices.Delete(b.tabs, i, i+1)
			b.touch()
		}
		return
	case i >= 0:
		b.tabs[i] = k
	default:
		b.tabs = append(b.tabs, k)
	}
	b.touch()
}

// Forget implements actor.RestoreStore.
func (b *Journal) Forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.warned, id)
	before := len(b.tabs)
	if b.tabs = slices.DeleteFunc(b.tabs, func(k restore.Record) bool { return k.ID == id }); len(b.tabs) != before {
		b.touch()
	}
}

// touch schedules a write.
func (b *Journal) touch() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// Clear removes all tabs and deletes the file immediately. After Clear, nothing is stored.
func (b *Journal) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tabs, b.sealed = nil, true
	if err := Remove(b.path); err != nil {
		b.logger.Warn("the journal of tabs could not be removed: the next daemon will restore its tabs", "file", b.path, "error", err)
	}
}

// Close writes pending changes and waits for that.
func (b *Journal) Close() {
	close(b.end)
	<-b.done
}

// write is the goroutine that writes the file.
func (b *Journal) write() {
	defer close(b.done)
	failed, warned := false, false
	for {
		var again <-chan time.Time
		if failed {
			again = time.After(Retry)
		}
		last := false
		select {
		case <-b.changed:
		case <-again:
		case <-b.end:
			last = true
		}
		err := b.save(last && len(b.changed) == 0 && !failed)
		if failed = err != nil; failed && !warned {
			b.logger.Warn("the journal of tabs cannot be written: if the daemon is killed, tabs are restored from older entries",
				"file", b.path, "error", err)
		}
		warned = failed
		if last {
			return
		}
		pause := time.NewTimer(Delay)
		select {
		case <-pause.C:
		case <-b.end:
			pause.Stop()
		}
	}
}

// save writes the file if anything changed.
func (b *Journal) save(clean bool) error {
	b.mu.Lock()
	sealed, tabs := b.sealed, slices.Clone(b.tabs)
	b.mu.Unlock()
	if sealed || clean {
		return nil
	}
	data, err := encode(tabs)
	if err != nil {
		return err
	}
	temp, err := stage(b.path, data)
	if err != nil {
		return err
	}
	b.mu.Lock()
	if sealed = b.sealed; !sealed {
		err = os.Rename(temp, b.path)
	}
	b.mu.Unlock()
	if sealed || err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(b.path))
}

// stage writes a temporary file next to path. If that fails, it removes the file.
func stage(path string, data []byte) (temp string, err error) {
	temp = path + ".new"
	if err := Remove(temp); err != nil { // left by a process that was killed
		return "", err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return temp, nil
}

// syncDir makes a rename durable. Windows does that automatically and offers no call for it.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
