package daemon

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/endpoint"
)

// manager is the service manager that started this process, such as systemd with Type=notify; nil: there is none, or it wants to hear nothing.
type manager struct {
	address string
	// watchdog is how often it wants to hear that the daemon lives; 0: never.
	watchdog time.Duration
}

// newManager reads what the manager said in the environment, as sd_notify(3) has it. The watchdog counts only when it is meant for this
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

// tell sends one state. A manager that does not listen is none.
func (m *manager) tell(state string) error {
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

// live tells the manager, twice as often as it asks for, that the daemon lives: whenever works returns, which must take what a daemon that
// hangs would not give. The returned function ends that.
func (m *manager) live(works func()) (stop func()) {
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
			_ = m.tell("WATCHDOG=1") // when it does not arrive, the manager acts
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
