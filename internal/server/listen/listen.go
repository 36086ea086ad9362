// Package listen opens the daemon's listeners, by domtap's rules for clients:
//
//   - a unix socket needs no token. It has mode 0600, in a directory that only its owner (or root) may
//     change, so that only processes of the same user reach it.
//   - a TCP address of which every resolved IP is loopback needs the bearer token.
//   - any other TCP address needs the token and TLS, or is refused.
//
// The package only opens listeners and keeps the token; package intercept asks for the token on every
// connection that does not come from a unix socket. Callers close the listeners.
package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// DefaultAddress is the default loopback TCP address.
// ClientKey is the metadata by which calls name their client whose requests have no client_id, or do not set it.
const ClientKey = "domtap-client-id"

const DefaultAddress = "127.0.0.1:7411"

// MaxMessage is the largest message in bytes that the daemon sends. It is here because clients need it,
// too, and should not import the server.
const MaxMessage = 64 << 20

// The windows of a stream and of a connection, in bytes, which daemon and clients set. Without fixed ones, gRPC measures
// the bandwidth: whoever receives a message sends two frames for it, and the sender a third, which takes longer than the
// message when a page changes. A message that is longer than the window gets a larger one.
const (
	StreamWindow     = 256 << 10
	ConnectionWindow = 1 << 20
)

// DefaultWebAddress is the default address for calls over HTTP and the live page.
const DefaultWebAddress = "127.0.0.1:7412"

// maxSocketPath is the size of the smallest sockaddr_un of the supported systems, minus the final NUL.
const maxSocketPath = 103

// DefaultSocket returns the path of this user's socket: domtap/domtap.sock below $XDG_RUNTIME_DIR, or
// else below the user's cache directory, or else domtap-UID/domtap.sock below the temporary directory.
// Clients use it too: a directory of another user is an error, because another user's daemon would be
// listening.
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

// socketDirs lists the directories that can hold the default socket, best first.
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

// makeDir makes the directory with mode 0700 where it is missing, and checks it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory %s: %w", dir, err)
	}
	return checkDir(dir)
}

// checkDir returns an error unless dir is a directory whose entries only its owner can replace, and
// whose owner is this user or root. A sticky directory such as /tmp counts: nobody can replace what
// another user put there.
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
