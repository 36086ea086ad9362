// Package endpoint finds a daemon, starts one and connects to it: which files a daemon and its clients meet at, what an
// address means, and which credentials it needs. The command line and package client stand on it.
//
// A unix socket goes without token and TLS. TCP on loopback carries the bearer token; any other address is
// only ever spoken to over TLS.
package endpoint

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/server/listen"
)

// Lookup reads an environment variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Places are the files that a daemon and its clients meet at.
type Places struct {
	// State is the directory of what outlives the daemon: its log and its browser's profile.
	State string
	// Socket is the daemon's unix socket; empty: it listens on TCP only.
	Socket string
	// Token is the file of the bearer token.
	Token string
}

// Log is the file that a daemon which was started on demand logs to.
func (p Places) Log() string { return filepath.Join(p.State, "daemon.log") }

// FindPlaces says where this user's daemon lives. A state directory chosen by the user holds socket and
// token too, so that one setting makes an instance apart from all others; empty: the usual places.
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
	return "", errorf(Misused, "set HOME, or give a directory with --state-dir", "there is no place for the daemon's state")
}

// Target is where a daemon listens: a unix socket or a TCP address.
type Target struct{ Socket, Address string }

// Parse reads unix:///PATH or HOST:PORT.
func Parse(addr string) (Target, error) {
	if path, isUnix := strings.CutPrefix(addr, "unix:"); isUnix {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") && !filepath.IsAbs(path) {
			return Target{}, errorf(Misused, "for example --addr unix:///run/user/1000/domtap/domtap.sock", "%q is no absolute path of a socket", addr)
		}
		return Target{Socket: path}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" {
		return Target{}, errorf(Misused, "use unix:///PATH or HOST:PORT", "%q is no address", addr)
	}
	return Target{Address: addr}, nil
}

// FindTarget says where this user's daemon listens: at addr unless that is empty, then on its socket, then on its TCP
// address.
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

// String is the target as Parse reads it.
func (t Target) String() string {
	if t.Socket != "" {
		return "unix://" + t.Socket
	}
	return t.Address
}

// name is the target as grpc wants it.
func (t Target) name() string {
	if t.Socket != "" {
		if runtime.GOOS == "windows" { // a path with a drive is none of a URL
			return "unix:" + t.Socket
		}
		return (&url.URL{Scheme: "unix", Path: t.Socket}).String()
	}
	return "passthrough:///" + t.Address
}

// Answers says whether somebody listens on a unix socket. A TCP address always counts: its daemon is
// not ours to start.
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

// Reach returns an error when nobody listens on a unix socket. That of a TCP address is left to the first call.
func (t Target) Reach(ctx context.Context) error {
	if t.Socket == "" {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", t.Socket)
	if err == nil {
		return conn.Close()
	}
	var why *os.SyscallError
	if errors.As(err, &why) {
		err = why.Err
	}
	return errorf(Unreachable, hintThere, "%s", unanswered("unix", t.Socket, err.Error()))
}

func (t Target) isLoopback() bool {
	host, _, _ := net.SplitHostPort(t.Address)
	return listen.IsLoopback(host)
}
