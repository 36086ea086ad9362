package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/windows"
)

// lockAt is the offset of the lock. Windows releases a lock when its process ends, but does not report the holder, so the file contains the
// process ID. A locked range cannot be read, so the lock is far beyond the content.
const lockAt = 1 << 30

func lockRange() *windows.Overlapped { return &windows.Overlapped{Offset: lockAt} }

// lock takes the lock without waiting. taken reports whether another process holds it.
func lock(f *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}

// record returns the content of the file: the process ID of the holder and its version.
func record(version string) string { return strconv.Itoa(os.Getpid()) + "\n" + version }

// holder returns the process that holds the lock, if there is one.
func holder(f *os.File) (Daemon, error) {
	// A shared lock needs only read access, and two readers do not block each other.
	handle := windows.Handle(f.Fd())
	err := windows.LockFileEx(handle, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
	if err == nil {
		return Daemon{}, windows.UnlockFileEx(handle, 0, 1, 0, lockRange())
	}
	if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return Daemon{}, fmt.Errorf("query the lock %s: %w", f.Name(), err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxVersion+20))
	if err != nil {
		return Daemon{}, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	id, version, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(id)
	if err != nil { // the holder has not written its process ID yet
		return Daemon{}, nil
	}
	return Daemon{PID: pid, Version: version}, nil
}

// eventName returns the name of the event that asks the daemon of a socket to stop. Only the user's own logon session can access the event.
func eventName(socket string) (*uint16, error) {
	sum := sha256.Sum256([]byte(strings.ToLower(socket)))
	return windows.UTF16PtrFromString(`Local\domtap-stop-` + hex.EncodeToString(sum[:16]))
}

// ask asks the daemon of a socket to stop. It uses an event because a process without a console receives no signals.
func ask(socket string, _ int) error {
	name, err := eventName(socket)
	if err != nil {
		return err
	}
	event, err := windows.OpenEvent(windows.EVENT_MODIFY_STATE, false, name)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		return nil // the daemon is stopping or starting, so the caller waits
	}
	if err != nil {
		return err
	}
	return errors.Join(windows.SetEvent(event), windows.CloseHandle(event))
}

// stopper waits for a request to stop.
type stopper struct {
	event windows.Handle
	// idle is set to wake the waiting goroutine.
	idle windows.Handle
}

func newStopper(socket string) (stopper, error) {
	name, err := eventName(socket)
	if err != nil {
		return stopper{}, err
	}
	event, err := windows.CreateEvent(nil, 1, 0, name)
	if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return stopper{}, fmt.Errorf("make the event that ends the daemon: %w", err)
	}
	idle, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return stopper{}, errors.Join(err, windows.CloseHandle(event))
	}
	return stopper{event: event, idle: idle}, nil
}

func (s stopper) until(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, _ = windows.WaitForMultipleObjects([]windows.Handle{s.event, s.idle}, false, windows.INFINITE) // every result ends the wait
		cancel()
	})
	return ctx, func() {
		_ = windows.SetEvent(s.idle) // the handle is ours
		waiting.Wait()
	}
}

func (s stopper) close() error {
	return errors.Join(windows.CloseHandle(s.event), windows.CloseHandle(s.idle))
}
