package daemon

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/endpoint"
)

// manager is the service manager that started this process, such as systemd with Type=notify. A nil manager
// expects no notifications.
type manager struct {
	address string
	// watchdog is the longest time between two signs of life; 0: none are expected.
	watchdog time.Duration
}

// newManager reads the manager's variables, by sd_notify(3). The watchdog counts only if it is meant for this
// process.
func newManager(env endpoint.Lookup, pid int) *manager {
	address, _ := env("NOTIFY_SOCKET")
	if address == "" || address[0] != '/' && address[0] != '@' {
		return nil
	}
	m := &manager{address: address}
	usec, _ := env("WATCHDOG_USEC")
	whose, _ := env("WATCHDOG_PID")
	if n, err := strconv.ParseInt(usec, 10, 64); err == nil && n > 0 && (whose == "" || whose == strconv.Itoa(pid)) {
		m.watchdog = time.Duration(n) * time.Microsecond
	}
	return m
}

// notify sends one state.
func (m *manager) notify(state string) error {
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

// keepAlive notifies the manager, twice as often as required, each time that works returns. works must block in
// a daemon that hangs. The caller calls stop at the end.
func (m *manager) keepAlive(works func()) (stop func()) {
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
			_ = m.notify("WATCHDOG=1") // without it, the manager restarts the daemon
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
