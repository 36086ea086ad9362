// Package listen opens the daemon's listeners. These rules apply:
//
//   - A unix socket needs no token. It has mode 0600, in a directory that only its owner or root can change, so that only processes of
//     the same user can connect.
//   - A TCP address whose resolved IPs are all loopback needs the bearer token.
//   - Any other TCP address needs the token and TLS. Without TLS it is refused.
//
// The package only opens listeners and stores the token. Package intercept checks the token on every connection that does not use a unix
// socket. Callers close the listeners.
package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// ClientKey is the metadata key by which a call names its client if its request has no client_id.
const ClientKey = "domtap-client-id"

// DefaultAddress is the default loopback TCP address.
const DefaultAddress = "127.0.0.1:7411"

// MaxMessage is the largest message in bytes that the daemon sends. It is defined here because clients need it and should not import the
// server.
const MaxMessage = 64 << 20

// The window sizes of a stream and of a connection in bytes, set by the daemon and by clients. Without fixed sizes, gRPC measures the
// bandwidth: for each message the receiver sends two frames and the sender sends one. When a page changes, these take longer than the
// message itself. For a message longer than the window, gRPC enlarges the window.
const (
	StreamWindow     = 256 << 10
	ConnectionWindow = 1 << 20
)

// DefaultWebAddress is the default address for calls over HTTP and the live page.
const DefaultWebAddress = "127.0.0.1:7412"

// maxSocketPath is the size of the smallest sockaddr_un of the supported systems, without the final NUL.
const maxSocketPath = 103

// DefaultSocket returns the path of this user's socket: domtap/domtap.sock below $XDG_RUNTIME_DIR, or else below the user's cache
// directory, or else domtap-UID/domtap.sock below the temporary directory. Clients use it too. A directory that belongs to another user is
// an error, because that user's daemon could be listening there.
func DefaultSocket() (string, error) {
	for _, dir := range socketDirs() {
		path := filepath.Join(dir, "domtap.sock")
		if len(path) > maxSocketPath {
			continue
		}
		err := checkDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return path, nil
	}
	return "", errors.New("no directory for the socket has a path short enough: give one with --socket")
}

// socketDirs lists the candidate directories for the default socket, best first.
func socketDirs() []string {
	var dirs []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && checkDir(run) == nil {
		dirs = append(dirs, filepath.Join(run, "domtap"))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "domtap"))
	}
	return append(dirs, filepath.Join(os.TempDir(), "domtap-"+strconv.Itoa(os.Getuid())))
}

// makeDir creates the directory with mode 0700 if it is missing, and checks it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory %s: %w", dir, err)
	}
	return checkDir(dir)
}

// checkDir returns an error unless dir is a directory of this user or root in which only the owner can replace entries. A sticky directory
// such as /tmp is accepted, because users cannot replace each other's files there.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check the directory %s: %w", dir, err)
	}
	switch mode := info.Mode(); {
	case !mode.IsDir():
		return fmt.Errorf("%s is not a directory: remove it, or choose another path", dir)
	case !ownedByUs(info, true):
		return fmt.Errorf("the directory %s belongs to another user: choose another path", dir)
	case openTo(info, 0o022) && mode&fs.ModeSticky == 0:
		return fmt.Errorf("other users may write to the directory %s: run chmod go-w %s, or choose another path", dir, dir)
	}
	return nil
}
