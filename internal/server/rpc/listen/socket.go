package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// dialTimeout limits the check whether a daemon answers on an existing socket.
const dialTimeout = 2 * time.Second

// Socket listens on a unix socket at path with mode 0600. Its directory is created with mode 0700 if missing, and must not be writable by
// other users. The socket of a dead daemon at path is removed; if the daemon is alive, Socket returns an error. Closing the listener
// removes the socket.
//
// The socket gets its final name only after it listens, so that every client that finds it can connect.
//
// A lock file next to the socket prevents two daemons from starting concurrently. It is not removed.
func Socket(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the socket path %s has more than %d bytes: choose a shorter one with --socket", path, maxSocketPath)
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockSocket(path)
	if err != nil {
		return nil, err
	}
	listener, err := bind(ctx, path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &socket{Listener: listener, path: path, lock: lock}, nil
}

// socket is a listener that holds its lock while it is open.
type socket struct {
	net.Listener
	path string
	lock *os.File
	once sync.Once
}

// Addr returns the address for clients.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close removes the socket and then releases the lock for the next daemon.
func (s *socket) Close() error {
	var removed error
	s.once.Do(func() { // only once, because the next daemon's socket has the same path
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			removed = fmt.Errorf("remove the socket: %w", err)
		}
	})
	return errors.Join(removed, s.Listener.Close(), s.lock.Close())
}

// lockSocket takes the lock of the socket at path.
func lockSocket(path string) (*os.File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file of the socket: %w", err)
	}
	locked, err := lockFile(lock)
	if err == nil && !locked {
		err = errLive(path)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// bind listens at path, unless a live daemon does.
func bind(ctx context.Context, path string) (net.Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	temp := unfinished(path)
	if temp != path {
		if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove the temporary socket of an earlier daemon: %w", err)
		}
	}
	var listener net.Listener
	err := private(func() (err error) {
		listener, err = new(net.ListenConfig).Listen(ctx, "unix", temp)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on the socket %s: %w", path, err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // the listener knows only the temporary name
	if temp == path {
		return listener, nil
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, errors.Join(fmt.Errorf("name the socket %s: %w", path, err), listener.Close(), os.Remove(temp))
	}
	return listener, nil
}

// unfinished returns the name of the socket before it listens. It returns path itself if a longer name does not fit or the system cannot
// rename sockets.
func unfinished(path string) string {
	if len(path) >= maxSocketPath || runtime.GOOS == "windows" {
		return path
	}
	return path + "~"
}

// removeStale removes the socket at path if no process listens on it.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check the socket: %w", err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket: remove it, or choose another path with --socket", path)
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	if conn, err := dialer.DialContext(ctx, "unix", path); err == nil {
		return errors.Join(errLive(path), conn.Close())
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the socket of an earlier daemon: %w", err)
	}
	return nil
}

func errLive(path string) error {
	return fmt.Errorf("a daemon already listens on %s: use it, stop it, or choose another path with --socket", path)
}
