package daemon

import (
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/sessions"
)

// Limits limits the resources that clients and pages use.
type Limits struct {
	limit.Config
	// TabsPerClient and SessionsPerClient apply to each named client. The operator is not limited.
	TabsPerClient, SessionsPerClient int
	// Mailbox limits the number of calls that wait for one tab.
	Mailbox int
	// PageElements limits the number of stored elements of each document.
	PageElements int
	// Idle configures how long unused tabs and sessions are kept and unused pages run.
	Idle sessions.Idle
	// ExitIdle is the time after which an on-demand daemon without tabs, sessions and connections exits. Zero means never.
	ExitIdle time.Duration
}

// Check returns an error that names the flag of an invalid limit.
func (l Limits) Check() error {
	if err := l.Config.Check(); err != nil {
		return err
	}
	for _, bound := range []struct {
		flag               string
		value, least, most int
	}{
		{"max-tabs-per-client", l.TabsPerClient, 1, 1_000_000},
		{"max-sessions-per-client", l.SessionsPerClient, 1, 1_000_000},
		{"mailbox", l.Mailbox, 1, 10_000},
		{"max-page-elements", l.PageElements, 100, observer.MaxElements},
		{"max-request-bytes", l.RequestBytes, 64 << 10, listen.MaxMessage},
		{"max-response-bytes", l.ResponseBytes, 64 << 10, listen.MaxMessage},
		{"max-connections", l.Connections, 0, 1_000_000},
		{"max-streams", l.Streams, 0, 1_000_000},
	} {
		if bound.value < bound.least || bound.value > bound.most {
			return fmt.Errorf("--%s %d is not %d to %d", bound.flag, bound.value, bound.least, bound.most)
		}
	}
	for flag, d := range map[string]time.Duration{"tab-idle": l.Idle.Tab, "freeze-idle": l.Idle.Freeze, "session-idle": l.Idle.Session, "exit-idle": l.ExitIdle} {
		if d != 0 && d < time.Second {
			return fmt.Errorf("--%s %v is neither 0 nor at least 1s", flag, d)
		}
	}
	if l.CallsPerSecond > 0 && l.CallsPerSecond < 0.01 {
		return errors.New("--max-calls-per-second is less than one in 100 s")
	}
	return nil
}
