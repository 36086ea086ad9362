// Package supervisor notifies the service manager that started a daemon, such as systemd, that the daemon is ready and alive. It uses
// sd_notify(3).
package supervisor

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/endpoint"
)

// Manager is the service manager that started this process, such as systemd with Type=notify. A nil Manager
// expects no notifications.
type Manager struct {
	address string
	// watchdog is the maximum time between two keep-alive notifications. Zero means that none are expected.
	watchdog time.Duration
}

// New reads the manager's variables as in sd_notify(3). It ignores the watchdog if it is meant for another process.
func New(env endpoint.Lookup, pid int) *Manager {
	address, _ := env("NOTIFY_SOCKET")
	if address == "" || address[0] != '/' && address[0] != '@' {
		return nil
	}
	m := &Manager{address: address}
	usec, _ := env("WATCHDOG_USEC")
	whose, _ := env("WATCHDOG_PID")
	if n, err := strconv.ParseInt(usec, 10, 64); err == nil && n > 0 && (whose == "" || whose == strconv.Itoa(pid)) {
		m.watchdog = time.Duration(n) * time.Microsecond
	}
	return m
}

// Notify sends one state.
func (m *Manager) Notify(state string) error {
	if m == nil {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.address, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(state))
	return err
}

// KeepAlive calls works repeatedly and notifies the manager each time works returns, twice as often as required. works must block if the
// daemon hangs. The caller calls stop at the end.
func (m *Manager) KeepAlive(works func()) (stop func()) {
	if m == nil || m.watchdog == 0 {
		return func() {}
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(m.watchdog / 2)
		defer tick.Stop()
		for {
			works()
			_ = m.Notify("WATCHDOG=1") // after missing notifications the manager restarts the daemon
			select {
			case <-tick.C:
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
	}
}
