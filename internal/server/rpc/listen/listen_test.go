package listen

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestDefaultSocketPrefersTheRuntimeDirectory(t *testing.T) {
	run, cache, temp := privateDir(t), privateDir(t), privateDir(t)
	t.Setenv("TMPDIR", temp)
	for _, c := range []struct {
		name, run, cache, home, want string
	}{
		{"runtime directory", run, cache, "", run + "/domtap/domtap.sock"},
		{"no runtime directory", "", cache, "", cache + "/domtap/domtap.sock"},
		{"relative runtime directory", "run", cache, "", cache + "/domtap/domtap.sock"},
		{"missing runtime directory", run + "/gone", cache, "", cache + "/domtap/domtap.sock"},
		{"no home either", "", "", "", temp},
		{"too long a cache directory", "", cache + strings.Repeat("/long", 20), "", temp},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", c.run)
			t.Setenv("XDG_CACHE_HOME", c.cache)
			t.Setenv("HOME", c.home)
			got, err := DefaultSocket()
			if err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, %v; want %s…", got, err, c.want)
			}
		})
	}
}

func TestDefaultSocketRefusesADirectoryOpenToOthers(t *testing.T) {
	run := privateDir(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	open := filepath.Join(run, "domtap")
	makeOpen(t, open)
	if path, err := DefaultSocket(); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("got %q, %v; want an error that says what to do", path, err)
	}
}

func TestSocketIsForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(privateDir(t), "made", "d.sock")
	listener := mustSocket(t, path)
	for file, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", file, info.Mode().Perm(), err, want)
		}
	}
	dial(t, path)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there after Close: %v", err)
	}
}

// TestVisibleSocketAcceptsConnections watches for new sockets and connects to each as soon as it exists.
func TestVisibleSocketAcceptsConnections(t *testing.T) {
	dir := privateDir(t)
	for i := range 300 {
		path := filepath.Join(dir, strconv.Itoa(i))
		seen, looking := make(chan error), make(chan struct{})
		go func() {
			close(looking)
			for {
				if _, err := os.Lstat(path); err == nil {
					conn, err := net.Dial("unix", path)
					if err == nil {
						err = conn.Close()
					}
					seen <- err
					return
				}
			}
		}()
		<-looking
		listener, err := Socket(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-seen; err != nil {
			t.Fatalf("socket %d is there and cannot be connected to: %v", i, err)
		}
		if got := listener.Addr().String(); got != path {
			t.Fatalf("the address is %s, want %s", got, path)
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*~"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left: %v", left, err)
	}
}

// TestTemporarySocketOfADeadDaemonIsReplaced starts next to a socket that never got its final name, and at the longest path.
func TestTemporarySocketOfADeadDaemonIsReplaced(t *testing.T) {
	dir := privateDir(t)
	path := filepath.Join(dir, "d.sock")
	if err := os.WriteFile(unfinished(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustSocket(t, path)
	dial(t, path)
	longest := filepath.Join(dir, strings.Repeat("x", maxSocketPath-len(dir)-1))
	mustSocket(t, longest)
	dial(t, longest)
}

func TestSocketRefusesWhatALiveDaemonHolds(t *testing.T) {
	path := filepath.Join(privateDir(t), "d.sock")
	first := mustSocket(t, path)
	if _, err := Socket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "already listens") {
		t.Fatalf("a second listener came with %v, want an error", err)
	}
	dial(t, path)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	mustSocket(t, path)
}

// A listener that does not use the lock file counts as alive too.
func TestSocketRefusesALiveListenerWithoutALock(t *testing.T) {
	path := filepath.Join(privateDir(t), "d.sock")
	stranger, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := Socket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "already listens") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestSocketReplacesWhatADeadDaemonLeft(t *testing.T) {
	path := filepath.Join(privateDir(t), "d.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the test left no stale socket: %v", err)
	}
	mustSocket(t, path)
	dial(t, path)
}

func TestSocketRefusesUnsafePlaces(t *testing.T) {
	dir := privateDir(t)
	open := filepath.Join(dir, "open")
	makeOpen(t, open)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, says string }{
		{"directory open to others", filepath.Join(open, "d.sock"), "chmod go-w"},
		{"an ordinary file", file, "not a socket"},
		{"a file for a directory", filepath.Join(file, "d.sock"), "directory"},
		{"too long a path", filepath.Join(dir, strings.Repeat("x", 200)), "shorter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			listener, err := Socket(t.Context(), c.path)
			if err == nil {
				listener.Close()
				t.Fatal("it listens")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error %q does not say %q", err, c.says)
			}
		})
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the ordinary file is gone: %v", err)
	}
}

func TestTCPRefusesOthersWithoutTLS(t *testing.T) {
	for address, says := range map[string]string{
		"0.0.0.0:0":      "--tls-cert",
		":0":             "--tls-cert",
		"[::]:0":         "--tls-cert",
		"192.0.2.1:7411": "--tls-cert",
		"127.0.0.1":      "host:port",
	} {
		listener, err := TCP(t.Context(), address, TLS{})
		if err == nil {
			listener.Close()
			t.Errorf("%s: it listens", address)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error %q does not say %q", address, err, says)
		}
		if listener, err = Web(t.Context(), address, TLS{}); err == nil {
			listener.Close()
			t.Errorf("%s: it listens for the web", address)
		} else if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), DefaultAddress) {
			t.Errorf("%s: the error %q does not say %q", address, err, says)
		}
	}
	if _, err := TCP(t.Context(), "127.0.0.1:0", TLS{CertFile: "only.pem"}); err == nil || !strings.Contains(err.Error(), "both") {
		t.Errorf("a certificate without a key gave %v", err)
	}
}

func TestTCPListensOnLoopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.1.2.3:0"} {
		listener, err := TCP(t.Context(), address, TLS{})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
			t.Errorf("%s: bound to %v", address, ip)
		}
		listener.Close()
	}
}

func TestTokenIsMadeOnceAndKeptPrivate(t *testing.T) {
	path := filepath.Join(privateDir(t), "domtap", "token")
	if _, err := ReadToken(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first start: %v, want fs.ErrNotExist", err)
	}
	tokens := make(chan string)
	for range 8 {
		go func() {
			token, err := Token(path)
			if err != nil {
				t.Error(err)
			}
			tokens <- token
		}()
	}
	first := <-tokens
	for range 7 {
		if other := <-tokens; other != first {
			t.Errorf("two starts got different tokens")
		}
	}
	if len(first) != 43 {
		t.Errorf("the token has %d characters, want 43 (32 bytes, base64url)", len(first))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file has mode %v, %v; want 0600", info.Mode().Perm(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".token-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestReadTokenRefusesBadFiles(t *testing.T) {
	good := strings.Repeat("t", 43)
	for _, c := range []struct {
		name, content string
		mode          fs.FileMode
		says          string
	}{
		{"readable by others", good, 0o644, "chmod 600"},
		{"writable by the group", good, 0o620, "chmod 600"},
		{"empty", "", 0o600, "delete it"},
		{"short", "abc", 0o600, "delete it"},
		{"two lines", good + "\n" + good, 0o600, "delete it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(privateDir(t), "token")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := Token(path); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}

// privateDir returns a directory whose path is short enough for a socket.
func privateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func makeOpen(t *testing.T, dir string) {
	t.Helper()
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
}

func mustSocket(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := Socket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func dial(t *testing.T, path string) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("nobody listens: %v", err)
	}
	conn.Close()
}
