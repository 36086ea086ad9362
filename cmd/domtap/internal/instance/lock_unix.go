//go:build unix

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

func wholeFile() *syscall.Flock_t {
	return &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
}

// lock takes the lock without waiting. taken reports whether another process holds it.
func lock(f *os.File) (taken bool, err error) {
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, wholeFile())
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES), err
}

// record returns the content of the file. It omits the process ID, which the kernel reports.
func record(version string) string { return version }

// holder returns the process that holds the lock, as the kernel reports it.
func holder(f *os.File) (Daemon, error) {
	lock := wholeFile()
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, lock); err != nil {
		return Daemon{}, fmt.Errorf("query the lock %s: %w", f.Name(), err)
	}
	if lock.Type == syscall.F_UNLCK {
		return Daemon{}, nil
	}
	version, err := io.ReadAll(io.NewSectionReader(f, 0, maxVersion))
	if err != nil {
		return Daemon{}, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return Daemon{PID: int(lock.Pid), Version: string(version)}, nil
}

// ask asks a process to stop.
func ask(_ string, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// stopper is empty on unix, where signals stop a process.
type stopper struct{}

func newStopper(string) (stopper, error) { return stopper{}, nil }

func (stopper) until(ctx context.Context) (context.Context, func()) { return ctx, func() {} }

func (stopper) close() error { return nil }
