// Package instance makes sure that one daemon serves one unix socket, and finds and ends that daemon.
//
// The daemon claims its socket for as long as its process lives, by a lock on a file beside the
// socket. That is longer than it listens: a daemon that has stopped listening may still be closing its
// browser. The kernel drops the lock when the process ends, however it ends, and says who holds it. So
// a claim is never left behind, and the process id is never a stale one.
//
// Callers owe a directory that nobody else can write to. The lock file itself is never removed:
// removing it would let two daemons hold two files of one name. The lock belongs to the process, not
// to the Claim: a second Acquire in the same process succeeds.
package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A TakenError says that another process holds the claim.
type TakenError struct {
	Socket string
	// PID is the holder's process id; 0 when it ended in the meantime.
	PID int
}

// Error names the holder and how to end it.
func (e *TakenError) Error() string {
	return fmt.Sprintf("a daemon with process id %d serves %s already; use it, or end it with: domtap stop", e.PID, e.Socket)
}

// Daemon is a process that holds a claim; the zero value stands for none.
type Daemon struct {
	PID int
	// Version is what the daemon said of itself, at most 100 bytes.
	Version string
}

// Claim is the right to serve a socket.
type Claim struct {
	file *os.File
	stop stopper
}

// Acquire claims a socket for this process, and leaves its version for others to see. It does not
// wait: when another process holds the claim, the error is a *TakenError. The socket's directory
// must exist.
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

// Until returns a context that ends with ctx, or when Stop asks the holder to end by other means than a signal, which is so where
// there are none. The caller owes a call of release.
func (c *Claim) Until(ctx context.Context) (until context.Context, release func()) {
	return c.stop.until(ctx)
}

// Release gives the claim back.
func (c *Claim) Release() error { return errors.Join(c.stop.close(), c.file.Close()) }

// Holder returns the daemon that serves a socket, or the zero value when there is none. The daemon
// itself must not ask: closing the file that it looks through would give up its own claim.
func Holder(socket string) (Daemon, error) {
	f, err := os.Open(lockPath(socket))
	if errors.Is(err, fs.ErrNotExist) {
		return Daemon{}, nil
	}
	if err != nil {
		return Daemon{}, fmt.Errorf("look for the daemon of %s: %w", socket, err)
	}
	d, err := holder(f)
	return d, errors.Join(err, f.Close())
}

// Stop asks the daemon that serves a socket to end, with SIGTERM where there are signals, and returns its process id when it
// has ended. It returns 0 when there is none. When ctx ends first, the daemon may still be ending.
func Stop(ctx context.Context, socket string) (int, error) {
	d, err := Holder(socket)
	if err != nil || d.PID == 0 {
		return 0, err
	}
	if err := ask(socket, d.PID); err != nil {
		return d.PID, fmt.Errorf("ask process %d to end: %w", d.PID, err)
	}
	return d.PID, waitReleased(ctx, socket)
}

// waitReleased asks for the holder again and again: there is no portable way to wait for a process
// that is not a child and for the context at the same time.
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

// maxVersion bounds what is kept of a daemon's version, in bytes.
const maxVersion = 100

func lockPath(socket string) string { return socket + ".claim" }
