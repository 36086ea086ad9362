// Package instance ensures that one daemon serves one unix socket, and finds and stops that daemon.
//
// A daemon claims its socket for the lifetime of its process by locking a file beside the socket. It holds the lock longer than it listens,
// because it still closes its browsers then. The kernel releases the lock when the process ends for any reason, and reports the holder.
// Therefore a claim is never left behind, and the process ID is never stale.
//
// The caller provides a directory that no other user can write to. The lock file is never removed, because otherwise two daemons could lock
// two files of the same name. The lock belongs to the process, not to the Claim: a second Acquire in the same process succeeds.
package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A TakenError reports that another process holds the claim.
type TakenError struct {
	Socket string
	// PID is the process ID of the holder, or 0 if the holder has ended in the meantime.
	PID int
}

// Error names the holder and the command that stops it.
func (e *TakenError) Error() string {
	return fmt.Sprintf("a daemon with process id %d already serves %s: use it, or stop it with domtap stop", e.PID, e.Socket)
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

// Until returns a context that ends with ctx, or when Stop asks the holder to stop on a system without signals. The caller calls release.
func (c *Claim) Until(ctx context.Context) (until context.Context, release func()) {
	return c.stop.until(ctx)
}

// Release releases the claim.
func (c *Claim) Release() error { return errors.Join(c.stop.close(), c.file.Close()) }

// Holder returns the daemon that serves a socket, or the zero value if there is none. The daemon itself must not call Holder, because
// closing the file would release its own claim.
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

// Stop asks the daemon that serves a socket to stop, by SIGTERM on systems with signals, and waits until its process has ended. It returns
// the process ID, or 0 if no daemon runs. If ctx ends first, the daemon may still be stopping.
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

// waitReleased polls for the holder, because there is no portable way to wait for both a process that is not a child and a context.
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

// maxVersion limits how many bytes of a daemon's version are written.
const maxVersion = 100

func lockPath(socket string) string { return socket + ".claim" }
