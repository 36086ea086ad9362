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

// Windows drops a lock when its process ends, as other kernels do, but does not tell who holds it, so the file says that. What is
// locked cannot be read, so the lock lies far behind what is written.
const lockAt = 1 << 30

func place() *windows.Overlapped { return &windows.Overlapped{Offset: lockAt} }

// lock takes the lock without waiting; taken says that another process has it.
func lock(f *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, place())
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}

// record is what the file says: who holds the lock, and its version.
func record(version string) string { return strconv.Itoa(os.Getpid()) + "\n" + version }

// holder reads who holds the lock, if it is held.
func holder(f *os.File) (Daemon, error) {
	// A shared lock needs no more than the right to read, and two that look at the same time do not disturb each other.
	handle := windows.Handle(f.Fd())
	err := windows.LockFileEx(handle, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, place())
	if err == nil {
		return Daemon{}, windows.UnlockFileEx(handle, 0, 1, 0, place())
	}
	if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return Daemon{}, fmt.Errorf("look at the lock %s: %w", f.Name(), err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxVersion+20))
	if err != nil {
		return Daemon{}, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	id, version, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(id)
	if err != nil { // it has the lock, and has not yet said who it is
		return Daemon{}, nil
	}
	return Daemon{PID: pid, Version: version}, nil
}

// eventName names the event that asks the daemon of a socket to end. Only the user's own logon session sees it.
func eventName(socket string) (*uint16, error) {
	sum := sha256.Sum256([]byte(strings.ToLower(socket)))
	return windows.UTF16PtrFromString(`Local\domtap-stop-` + hex.EncodeToString(sum[:16]))
}

// ask asks the daemon of a socket to end. There are no signals for a process without a console.
func ask(socket string, _ int) error {
	name, err := eventName(socket)
	if err != nil {
		return err
	}
	event, err := windows.OpenEvent(windows.EVENT_MODIFY_STATE, false, name)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		return nil // it is ending, or has just begun: waiting tells
	}
	if err != nil {
		return err
	}
	return errors.Join(windows.SetEvent(event), windows.CloseHandle(event))
}

// stopper hears whether somebody asks the daemon to end.
type stopper struct {
	event windows.Handle
	// idle is set to wake the one that waits.
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
		_, _ = windows.WaitForMultipleObjects([]windows.Handle{s.event, s.idle}, false, windows.INFINITE) // whatever it says, it is over
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
