package supervisor

import (
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/endpoint"
)

func lookup(env map[string]string) endpoint.Lookup {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func TestServiceManagerIsNotified(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_ = l.SetReadDeadline(time.Now().Add(30 * time.Second))
	heard := func() string {
		var b [100]byte
		n, err := l.Read(b[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	m := New(lookup(map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "7"}), 7)
	if err := m.Notify("READY=1"); err != nil {
		t.Fatal(err)
	}
	if got := heard(); got != "READY=1" {
		t.Errorf("heard %q", got)
	}
	checked := 0
	stop := m.KeepAlive(func() { checked++ })
	for range 3 {
		if got := heard(); got != "WATCHDOG=1" {
			t.Errorf("heard %q", got)
		}
	}
	stop()
	if checked < 3 {
		t.Errorf("checked %d times", checked)
	}
}

func TestNotifyWithoutServiceManager(t *testing.T) {
	for _, env := range []map[string]string{nil, {"NOTIFY_SOCKET": "relative"}} {
		m := New(lookup(env), 7)
		if m != nil || m.Notify("READY=1") != nil {
			t.Errorf("%v: %+v", env, m)
		}
		m.KeepAlive(func() { t.Error("called") })()
	}
	if m := New(lookup(map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "5", "WATCHDOG_PID": "8"}), 7); m == nil || m.watchdog != 0 {
		t.Errorf("the watchdog of another process: %+v", m)
	}
}
