// Package instance ensures that one daemon serves one unix socket, and finds and stops that daemon.
//
// A daemon claims its socket for the lifetime of its process, by a lock on a file beside the socket. The lock is
// held longer than the daemon listens, because the daemon still closes its browsers then. The kernel releases the
// lock when the process ends, however it ends, and reports the holder. So a claim is never left behind, and the
// process ID is never stale.
//
// The caller provides a directory that no other user can write to. The lock file is never removed: otherwise two
// daemons could hold two files of one name. The lock belongs to the process, not to the Claim: a second Acquire in
// the same process succeeds.
package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A TakenError is the error of a claim that another process holds.
type TakenError struct {
	Socket string
	// PID is the process ID of the holder; 0 if the holder has ended meanwhile.
	PID int
}

// Error names the holder and how to stop it.
func (e *TakenError) Error() string {
	return fmt.Sprintf("a daemon with process id %d serves %s already; use it, or stop it with: domtap stop", e.PID, e.Socket)
}

// Daemon is a process that holds a claim. The zero value is not a daemon.
type Daemon struct {
	PID int
	// Version is the version that the daemon wrote, at most 100 bytes.
	Version string
}

// Claim is the right to serve a socket.
type Claim struct {
	file *os.File
	stop stopper
}

// Acquire claims a socket for this process, and writes its version for others to read. It does not wait: if another
// process holds the claim, the error is a *TakenError. The directory of the socket must exist.
func Acquire(socket, version string) (*Claim, error) {
	f, err := os.OpenFile(lockPath(socket), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claim the socket %s: %w", socket, err)
	}
	taken, err := lock(f)
	if taken {
		other, _ := holder(f)
		return nil, errors.Join(&TakenError{Socket: socket, PID: other.PID}, f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(record(version[:min(len(version), maxVersion)])), 0)
	}
	var end stopper
	if err == nil {
		end, err = newStopper(socket)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("claim %s: %w", f.Name(), err), f.Close())
	}
	return &Claim{file: f, stop: end}, nil
}

// Until returns a context that ends with ctx, or when Stop asks the holder to stop without a signal, on systems that
// have none. The caller calls release.
func (c *Claim) Until(ctx context.Context) (until context.Context, release func()) {
	return c.stop.until(ctx)
}

// Release releases the claim.
func (c *Claim) Release() error { return errors.Join(c.stop.close(), c.file.Close()) }

// Holder returns the daemon that serves a socket, or the zero value if none does. The daemon itself must not call
// Holder: closing the file would release its own claim.
func Holder(socket string) (Daemon, error) {
	f, err := os.Open(lockPath(socket))
	if errors.Is(err, fs.ErrNotExist) {
		return Daemon{}, nil
	}
	if err != nil {
		return Daemon{}, fmt.Errorf("find the daemon of %s: %w", socket, err)
	}
	d, err := holder(f)
	return d, errors.Join(err, f.Close())
}

// Stop asks the daemon that serves a socket to stop, by SIGTERM on systems with signals, and returns its process ID
// when the process has ended, or 0 if no daemon runs. If ctx ends first, the daemon may still be stopping.
func Stop(ctx context.Context, socket string) (int, error) {
	d, err := Holder(socket)
	if err != nil || d.PID == 0 {
		return 0, err
	}
	if err := ask(socket, d.PID); err != nil {
		return d.PID, fmt.Errorf("ask process %d to stop: %w", d.PID, err)
	}
	return d.PID, waitReleased(ctx, socket)
}

// waitReleased polls for the holder: there is no portable way to wait for both a process that is not a child and a
// context.
func waitReleased(ctx context.Context, socket string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		d, err := Holder(socket)
		if err != nil || d.PID == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d to end: %w", d.PID, ctx.Err())
		}
	}
}

// maxVersion is the most bytes written of a daemon's version.
const maxVersion = 100

func lockPath(socket string) string { return socket + ".claim" }
