// Package endpoint finds, starts and connects to a daemon. It defines the files that a daemon and its clients share, the forms of
// addresses, and their credentials. The command line and package client use it.
//
// A unix socket needs neither token nor TLS. TCP on loopback needs the bearer token; any other address
// also needs TLS.
package endpoint

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Lookup reads an environment variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Places holds the paths that a daemon and its clients share.
type Places struct {
	// State is the directory of files that outlive the daemon: its log and the profile of its browser.
	State string
	// Socket is the daemon's unix socket. It is empty if the daemon listens only on TCP.
	Socket string
	// Token is the file with the bearer token.
	Token string
}

// Log returns the log file of a daemon that was started on demand.
func (p Places) Log() string { return filepath.Join(p.State, "daemon.log") }

// FindPlaces returns the paths of this user's daemon. A state directory chosen by the user also contains the socket and the token, so that
// one setting defines a separate instance. If stateDir is empty, the default paths are used.
func FindPlaces(env Lookup, stateDir string) (Places, error) {
	at := Places{State: stateDir}
	var errState, errSocket, errToken error
	if stateDir == "" {
		at.State, errState = defaultState(env)
		at.Socket, errSocket = listen.DefaultSocket()
		at.Token, errToken = listen.DefaultTokenFile()
	} else {
		at.Socket = filepath.Join(stateDir, "domtap.sock")
		at.Token = filepath.Join(stateDir, "token")
	}
	if socket, set := env("DOMTAP_SOCKET"); set {
		at.Socket, errSocket = socket, nil
	}
	return at, errors.Join(errState, errSocket, errToken)
}

func defaultState(env Lookup) (string, error) {
	if dir, _ := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "domtap"), nil
	}
	if dir, _ := env("LOCALAPPDATA"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "domtap", "state"), nil
	}
	if home, _ := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "domtap"), nil
	}
	return "", errorf(Misused, "set HOME, or give a directory with --state-dir", "no directory for the daemon's state")
}

// Target is the address of a daemon: a unix socket, a TCP address, or the comma-separated TCP addresses of the nodes of a cluster.
type Target struct{ Socket, Address string }

// Parse parses unix:///PATH, HOST:PORT, or several HOST:PORT separated by commas, which are the nodes of one cluster.
func Parse(addr string) (Target, error) {
	if path, isUnix := strings.CutPrefix(addr, "unix:"); isUnix {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") && !filepath.IsAbs(path) {
			return Target{}, errorf(Misused, "for example --addr unix:///run/user/1000/domtap/domtap.sock", "invalid socket %q: it must be an absolute path", addr)
		}
		return Target{Socket: path}, nil
	}
	all := strings.Split(addr, ",")
	for i, one := range all {
		all[i] = strings.TrimSpace(one)
		if host, port, err := net.SplitHostPort(all[i]); err != nil || host == "" || port == "" {
			return Target{}, errorf(Misused, "use unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT for the nodes of a cluster", "invalid address %q", all[i])
		}
	}
	return Target{Address: strings.Join(all, ",")}, nil
}

// FindTarget returns the target of this user's daemon: addr if it is set, or else its socket, or else its TCP address.
func FindTarget(addr string, at Places, env Lookup) (Target, error) {
	if addr != "" {
		return Parse(addr)
	}
	if at.Socket != "" {
		return Target{Socket: at.Socket}, nil
	}
	if address, _ := env("DOMTAP_LISTEN"); address != "" {
		return Parse(address)
	}
	return Target{Address: listen.DefaultAddress}, nil
}

// String returns the target in the syntax of Parse.
func (t Target) String() string {
	if t.Socket != "" {
		return "unix://" + t.Socket
	}
	return t.Address
}

// name returns the target in the syntax of gRPC.
func (t Target) name() string {
	if t.Socket != "" {
		if runtime.GOOS == "windows" { // a path with a drive letter is not valid in a URL
			return "unix:" + t.Socket
		}
		return (&url.URL{Scheme: "unix", Path: t.Socket}).String()
	}
	if addresses := t.addresses(); len(addresses) > 1 {
		return clusterScheme + ":///" + addresses[0]
	}
	return "passthrough:///" + t.Address
}

// addresses returns the TCP addresses.
func (t Target) addresses() []string { return strings.Split(t.Address, ",") }

// clusterScheme is the scheme in gRPC names of targets with several addresses.
const clusterScheme = "domtap"

// Answers reports whether a daemon listens on a unix socket. It returns true for TCP addresses, because their daemons are never started
// here.
func (t Target) Answers(ctx context.Context) bool {
	if t.Socket == "" {
		return true
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", t.Socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// Reach returns an error if no daemon listens on a unix socket. For a TCP address, only the first call detects that.
func (t Target) Reach(ctx context.Context) error {
	if t.Socket == "" {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", t.Socket)
	if err == nil {
		return conn.Close()
	}
	if why, ok := errors.AsType[*os.SyscallError](err); ok {
		err = why.Err
	}
	return errorf(Unreachable, noDaemonHint, "%s", unanswered("unix", t.Socket, err.Error()))
}

func (t Target) isLoopback() bool {
	return !slices.ContainsFunc(t.addresses(), func(address string) bool {
		host, _, _ := net.SplitHostPort(address)
		return !listen.IsLoopback(host)
	})
}
